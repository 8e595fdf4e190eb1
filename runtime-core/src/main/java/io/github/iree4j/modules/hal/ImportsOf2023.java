package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;

/**
 * Functions imported only by compilers of 2023: the single device, and allocations without queue affinity.
 *
 * <p>Programs of releases of IREE before 20240129.785 need these functions; later compilers import none. This class may
 * go in the first minor release after 31 December 2028, five years after the last change of a compiler away from these
 * functions. Then programs of 2023 must be compiled again.
 */
final class ImportsOf2023 {
    private ImportsOf2023() {}

    static void register(NativeModule.Builder<HalState> module) {
        // Until December 2023.
        module.function("ex.shared_device", "0v_r", ImportsOf2023::sharedDevice)
                // Until August 2023.
                .function("allocator.allocate", "0riiI_r", ImportsOf2023::allocate)
                .function("allocator.allocate.initialized", "0riirII_r", ImportsOf2023::allocateInitialized)
                .function("allocator.map.byte_buffer", "0riiirII_r", ImportsOf2023::mapByteBuffer)
                // Until March 2023.
                .function("channel.create", "0rIii_r", ImportsOf2023::createChannel);
    }

    private static void sharedDevice(HalState state, VmCall call) {
        if (state.module().devices().isEmpty()) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND, "the program asks for its device (hal.ex.shared_device) and has none");
        }
        call.returnRef(state.module().devices().getFirst());
    }

    private static void allocate(HalState state, VmCall call) {
        Allocator allocator = call.required(Allocator.class);
        BufferParams params = AllocatorImports.params(state, QueueAffinity.ANY, call);
        call.returnRef(allocator.allocate(params, call.i64()));
    }

    /** Allocates memory written once by the host. */
    private static void allocateInitialized(HalState state, VmCall call) {
        Allocator allocator = call.required(Allocator.class);
        BufferParams params = AllocatorImports.params(state, QueueAffinity.ANY, call);
        VmBuffer source = call.required(VmBuffer.class);
        long offset = call.i64();
        MemorySegment bytes = Arguments.bytes("source", source, offset, call.i64());
        call.returnRef(allocator.allocate(params, bytes));
    }

    private static void mapByteBuffer(HalState state, VmCall call) {
        Allocator allocator = call.required(Allocator.class);
        boolean isTry = call.i32() != 0;
        AllocatorImports.importMemory(allocator, isTry, QueueAffinity.ANY, call);
    }

    private static void createChannel(HalState state, VmCall call) {
        Device device = state.own(call.required(Device.class));
        long affinity = call.i64();
        int rank = call.i32();
        int count = call.i32();
        call.returnRef(state.channel(device, affinity, ChannelParams.of(rank, count)));
    }
}
