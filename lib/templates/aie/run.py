"""@TOP@ on a device: the arrays of a call in files of NumPy, in their order; they are changed in place."""

import json
import sys

import numpy as np
import pyxrt

BUFFERS = json.loads("@BUFFERS@")  # of each, the arrays in it, with the byte at which each begins
FILES = sys.argv[1:]
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
arrays = [np.load(file) for file in FILES]
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
        np.save(FILES[k], result)
