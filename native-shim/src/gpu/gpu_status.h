// Codes of CUDA and HIP, which share their numbers. Private to the shim.
#ifndef IREE4J_GPU_STATUS_H_
#define IREE4J_GPU_STATUS_H_

// X(number, canonical code, permanent, NAME)
#define SHIM__GPU_CODES(X)                                       \
  X(1, INVALID_ARGUMENT, 0, INVALID_VALUE)                       \
  X(2, RESOURCE_EXHAUSTED, 0, OUT_OF_MEMORY)                     \
  X(3, UNAVAILABLE, 0, NOT_INITIALIZED)                          \
  X(4, ABORTED, 1, DEINITIALIZED)                                \
  X(34, UNAVAILABLE, 0, STUB_LIBRARY)                            \
  X(46, UNAVAILABLE, 1, DEVICE_UNAVAILABLE)                      \
  X(100, UNAVAILABLE, 0, NO_DEVICE)                              \
  X(101, INVALID_ARGUMENT, 0, INVALID_DEVICE)                    \
  X(200, INVALID_ARGUMENT, 0, INVALID_IMAGE)                     \
  X(201, INTERNAL, 0, INVALID_CONTEXT)                           \
  X(209, INCOMPATIBLE, 0, NO_BINARY_FOR_GPU)                     \
  X(214, DATA_LOSS, 1, ECC_UNCORRECTABLE)                        \
  X(217, UNIMPLEMENTED, 0, PEER_ACCESS_UNSUPPORTED)              \
  X(218, INVALID_ARGUMENT, 0, INVALID_PTX)                       \
  X(220, ABORTED, 1, NVLINK_UNCORRECTABLE)                       \
  X(221, UNAVAILABLE, 0, JIT_COMPILER_NOT_FOUND)                 \
  X(222, INCOMPATIBLE, 0, UNSUPPORTED_PTX_VERSION)               \
  X(223, UNAVAILABLE, 0, JIT_COMPILATION_DISABLED)               \
  X(226, ABORTED, 1, CONTAINED)                                  \
  X(300, INVALID_ARGUMENT, 0, INVALID_SOURCE)                    \
  X(304, RESOURCE_EXHAUSTED, 0, OPERATING_SYSTEM)                \
  X(400, INVALID_ARGUMENT, 0, INVALID_HANDLE)                    \
  X(500, NOT_FOUND, 0, NOT_FOUND)                                \
  X(700, ABORTED, 1, ILLEGAL_ADDRESS)                            \
  X(701, RESOURCE_EXHAUSTED, 0, LAUNCH_OUT_OF_RESOURCES)         \
  X(702, ABORTED, 1, LAUNCH_TIMEOUT)                             \
  X(704, ALREADY_EXISTS, 0, PEER_ACCESS_ALREADY_ENABLED)         \
  X(709, ABORTED, 1, CONTEXT_IS_DESTROYED)                       \
  X(710, ABORTED, 1, ASSERT)                                     \
  X(711, RESOURCE_EXHAUSTED, 0, TOO_MANY_PEERS)                  \
  X(712, ALREADY_EXISTS, 0, HOST_MEMORY_ALREADY_REGISTERED)      \
  X(713, FAILED_PRECONDITION, 0, HOST_MEMORY_NOT_REGISTERED)     \
  X(714, ABORTED, 1, HARDWARE_STACK_ERROR)                       \
  X(715, ABORTED, 1, ILLEGAL_INSTRUCTION)                        \
  X(716, ABORTED, 1, MISALIGNED_ADDRESS)                         \
  X(717, ABORTED, 1, INVALID_ADDRESS_SPACE)                      \
  X(718, ABORTED, 1, INVALID_PC)                                 \
  X(719, ABORTED, 1, LAUNCH_FAILED)                              \
  X(721, ABORTED, 1, TENSOR_MEMORY_LEAK)                         \
  X(800, PERMISSION_DENIED, 0, NOT_PERMITTED)                    \
  X(801, UNIMPLEMENTED, 0, NOT_SUPPORTED)                        \
  X(802, UNAVAILABLE, 0, SYSTEM_NOT_READY)                       \
  X(803, UNAVAILABLE, 0, SYSTEM_DRIVER_MISMATCH)                 \
  X(804, UNAVAILABLE, 0, COMPAT_NOT_SUPPORTED_ON_DEVICE)         \
  X(805, UNAVAILABLE, 1, MPS_CONNECTION_FAILED)                  \
  X(806, ABORTED, 1, MPS_RPC_FAILURE)                            \
  X(807, UNAVAILABLE, 0, MPS_SERVER_NOT_READY)                   \
  X(808, RESOURCE_EXHAUSTED, 0, MPS_MAX_CLIENTS_REACHED)         \
  X(809, RESOURCE_EXHAUSTED, 0, MPS_MAX_CONNECTIONS_REACHED)     \
  X(810, ABORTED, 1, MPS_CLIENT_TERMINATED)                      \
  X(811, UNIMPLEMENTED, 0, CDP_NOT_SUPPORTED)                    \
  X(812, INCOMPATIBLE, 0, CDP_VERSION_MISMATCH)                  \
  X(910, FAILED_PRECONDITION, 0, GRAPH_UPDATE_FAILURE)           \
  X(999, ABORTED, 1, UNKNOWN)

#endif  // IREE4J_GPU_STATUS_H_
