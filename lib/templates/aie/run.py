"""@TOP@ on a device: the arrays of a call in files of NumPy, in their order; they are changed in place."""

import sys

import numpy as np
import pyxrt

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
for number, array in enumerate(arrays):
    buffer = pyxrt.bo(device, array.nbytes, pyxrt.bo.host_only, kernel.group_id(3 + number))
    buffer.write(np.ascontiguousarray(array).view(np.uint8).reshape(-1), 0)
    buffer.sync(pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE, array.nbytes, 0)
    buffers.append(buffer)
kernel(3, code, instructions.size, *buffers).wait()
for file, array, buffer in zip(FILES, arrays, buffers, strict=True):
    buffer.sync(pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE, array.nbytes, 0)
    result = np.frombuffer(buffer.read(array.nbytes, 0), dtype=array.dtype).reshape(array.shape)
    np.save(file, result)
