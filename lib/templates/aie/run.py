"""@TOP@ on a device: the arrays of a call in files of NumPy, in their order; they are changed in place."""

import json
import sys

import numpy as np
import pyxrt

BUFFERS = json.loads("@BUFFERS@")  # of each, the arrays in it, with the byte at which each begins
CARRIED = json.loads("@CARRIED@")  # arguments that are moved in another form: by number, form, dtype and shape of it
FILES = sys.argv[1:]


def moved(array, form, kind, shape):
    """An argument in the form in which it is moved."""
    flat = array.reshape(-1)
    if form == "bits":
        flat = np.frombuffer(flat.tobytes().ljust(4, b"\0"), kind)
    elif form == "nibbles":
        pairs = np.zeros(-(-flat.size // 2) * 2, np.uint8)
        pairs[: flat.size] = flat.astype(np.uint8) & 15
        flat = (pairs[::2] | pairs[1::2] << 4).view(kind)
    made = np.zeros(int(np.prod(shape)), kind)
    made[: flat.size] = flat.view(kind)
    return made.reshape(shape)


def taken_back(made, array, form):
    """An argument as a call leaves it."""
    flat = made.reshape(-1)
    if form == "bits":
        return array
    if form == "nibbles":
        pairs = np.stack([flat << 4, flat], -1).reshape(-1)
        flat = pairs >> 4 if array.dtype.kind == "i" else pairs.view(np.uint8) >> 4
    return flat[: array.size].view(array.dtype).reshape(array.shape)


if len(FILES) != int("@COUNT@"):
    sys.exit("usage: python run.py @USAGE@")
device = pyxrt.device(0)
binary = pyxrt.xclbin("final.xclbin")
device.register_xclbin(binary)
context = pyxrt.hw_context(device, binary.get_uuid())
kernel = pyxrt.kernel(context, binary.get_kernels()[0].get_name())
instructions = np.fromfile("insts.bin", dtype=np.uint32)
code = pyxrt.bo(device, instructions.nbytes, pyxrt.bo.cacheable, kernel.group_id(1))
code.write(instructions, 0)
code.sync(pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE, instructions.nbytes, 0)
given = [np.load(file) for file in FILES]
arrays = [moved(array, *CARRIED[str(k)]) if str(k) in CARRIED else array for k, array in enumerate(given)]
buffers = []
for number, placed in enumerate(BUFFERS):
    size = max(offset + arrays[k].nbytes for k, offset in placed)
    buffer = pyxrt.bo(device, size, pyxrt.bo.host_only, kernel.group_id(3 + number))
    for k, offset in placed:
        buffer.write(np.ascontiguousarray(arrays[k]).view(np.uint8).reshape(-1), offset)
    buffer.sync(pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE, size, 0)
    buffers.append((buffer, size))
kernel(3, code, instructions.size, *(buffer for buffer, _ in buffers)).wait()
for (buffer, size), placed in zip(buffers, BUFFERS, strict=True):
    buffer.sync(pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE, size, 0)
    for k, offset in placed:
        array = arrays[k]
        result = np.frombuffer(buffer.read(array.nbytes, offset), dtype=array.dtype).reshape(array.shape)
        np.save(FILES[k], taken_back(result, given[k], CARRIED[str(k)][0]) if str(k) in CARRIED else result)
