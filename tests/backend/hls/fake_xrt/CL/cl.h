// A stand-in for OpenCL: a "binary" is a shared library with the kernel, a buffer is memory of this process.
#pragma once
#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

typedef int cl_int;
typedef unsigned cl_uint, cl_bool;
typedef unsigned long long cl_bitfield, cl_device_type, cl_mem_flags, cl_command_queue_properties;
typedef long cl_context_properties;
typedef cl_uint cl_platform_info;
struct fake_library { std::string path; void *handle; std::map<cl_uint, void *> arguments; };
typedef int *cl_platform_id, *cl_device_id, *cl_context, *cl_command_queue;
typedef fake_library *cl_program, *cl_kernel;
struct fake_memory { char *bytes; };
typedef fake_memory *cl_mem;
typedef void *cl_event;
#define CL_SUCCESS 0
#define CL_TRUE 1
#define CL_PLATFORM_NAME 0x0902
#define CL_DEVICE_TYPE_ACCELERATOR 8
#define CL_MEM_READ_WRITE 1
static int fake_object;

static inline cl_int clGetPlatformIDs(cl_uint, cl_platform_id *found, cl_uint *count) {
  if (count) { *count = 1; }
  if (found) { *found = &fake_object; }
  return 0;
}
static inline cl_int clGetPlatformInfo(cl_platform_id, cl_platform_info, size_t, void *text, size_t *) {
  std::strcpy(static_cast<char *>(text), "Xilinx");
  return 0;
}
static inline cl_int clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint, cl_device_id *found, cl_uint *count) {
  if (count) { *count = 1; }
  if (found) { *found = &fake_object; }
  return 0;
}
static inline cl_context clCreateContext(const cl_context_properties *, cl_uint, const cl_device_id *,
                                         void (*)(const char *, const void *, size_t, void *), void *, cl_int *status) {
  *status = 0;
  return &fake_object;
}
static inline cl_command_queue clCreateCommandQueue(cl_context, cl_device_id, cl_command_queue_properties, cl_int *status) {
  *status = 0;
  return &fake_object;
}
static inline cl_program clCreateProgramWithBinary(cl_context, cl_uint, const cl_device_id *, const size_t *length,
                                                   const unsigned char **bytes, cl_int *, cl_int *status) {
  std::string path = (std::filesystem::temp_directory_path() / "fake-xclbin-XXXXXX").string();
  int file = mkstemp(path.data());
  *status = file < 0 || write(file, *bytes, *length) != static_cast<ssize_t>(*length) ? -44 : 0;
  close(file);
  auto made = new fake_library{path, nullptr, {}};
  made->handle = dlopen(path.c_str(), RTLD_NOW);
  unlink(path.c_str());
  if (!made->handle) { *status = -42; }
  return made;
}
static inline cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *status) {
  *status = dlsym(program->handle, name) ? 0 : -46;
  return program;
}
static inline cl_mem clCreateBuffer(cl_context, cl_mem_flags, size_t bytes, void *, cl_int *status) {
  *status = 0;
  return new fake_memory{new char[bytes]};
}
static inline cl_int clSetKernelArg(cl_kernel kernel, cl_uint position, size_t bytes, const void *value) {
  char *copy = new char[bytes];
  std::memcpy(copy, value, bytes);
  kernel->arguments[position] = bytes == sizeof(cl_mem) ? (*static_cast<const cl_mem *>(value))->bytes : copy;
  return 0;
}
static inline cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem buffer, cl_bool, size_t offset, size_t bytes,
                                          const void *source, cl_uint, const cl_event *, cl_event *) {
  std::memcpy(buffer->bytes + offset, source, bytes);
  return 0;
}
static inline cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem buffer, cl_bool, size_t offset, size_t bytes,
                                         void *target, cl_uint, const cl_event *, cl_event *) {
  std::memcpy(target, buffer->bytes + offset, bytes);
  return 0;
}
static inline cl_int clEnqueueTask(cl_command_queue, cl_kernel kernel, cl_uint, const cl_event *, cl_event *) {
  void *memory[64];
  for (auto &argument : kernel->arguments) { memory[argument.first] = argument.second; }
  reinterpret_cast<void (*)(void **)>(dlsym(kernel->handle, "fake_entry"))(memory);
  return 0;
}
static inline cl_int clFinish(cl_command_queue) { return 0; }
static inline cl_int clReleaseMemObject(cl_mem) { return 0; }
static inline cl_int clReleaseKernel(cl_kernel) { return 0; }
static inline cl_int clReleaseProgram(cl_program) { return 0; }
static inline cl_int clReleaseCommandQueue(cl_command_queue) { return 0; }
static inline cl_int clReleaseContext(cl_context) { return 0; }
