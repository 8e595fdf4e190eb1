package io.github.iree4j.modules.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code hal.fence.*} */
final class FenceImports {
    private static final int STATUS_CODE_MASK = 0x1F;

    private FenceImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("fence.create", "0rI_r", FenceImports::create)
                .function("fence.join", "0ICrD_r", FenceImports::join)
                .function("fence.await", "0iICrD_i", FenceImports::await)
                .function("fence.query", "0r_i", FenceImports::query)
                .function("fence.signal", "0r_v", FenceImports::signal)
                .function("fence.fail", "0ri_v", FenceImports::fail);
    }

    private static void create(HalState state, VmCall call) {
        Device device = call.required(Device.class);
        Arguments.bits("flags", call.i64(), 0);
        create(state, device, call);
    }

    static void create(HalState state, Device device, VmCall call) {
        TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        MemoryHolder holder = MemoryHolder.current();
        if (holder != null) {
            timeline.setName(holder);
        }
        call.returnRef(state.made(Fence.adopt(timeline, 1)));
    }

    private static void join(HalState state, VmCall call) {
        Arguments.bits("flags", call.i64(), 0);
        returnJoined(state, call);
    }

    static void returnJoined(HalState state, VmCall call) {
        call.returnRef(state.made(Fence.joinNullable(fences(call, call.spanCount()))));
    }

    private static List<@Nullable Fence> fences(VmCall call, int count) {
        List<@Nullable Fence> fences = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            fences.add(call.ref(Fence.class));
        }
        return fences;
    }

    /**
     * Waits for all fences: returns 0 after all are reached and DEADLINE_EXCEEDED as a value on timeout; any other
     * failure is thrown. Never blocks: a call that must wait is deferred and resumed when there is an outcome.
     */
    private static void await(HalState state, VmCall call) {
        int timeoutMillis = call.i32();
        Arguments.bits("flags", call.i64(), 0);
        await(call, timeoutMillis);
    }

    static void await(VmCall call, int timeoutMillis) {
        int count = call.spanCount();
        // Compiled programs wait for a single fence, usually reached already: no list, no wait object.
        if (count == 1) {
            Fence fence = call.ref(Fence.class);
            if (fence == null || fence.isReached()) {
                call.returnI32(StatusCode.OK.number());
                return;
            }
            await(call, timeoutMillis, List.of(fence));
            return;
        }
        List<Fence> pending = new ArrayList<>();
        for (Fence fence : fences(call, count)) {
            if (fence != null && !fence.isReached()) {
                pending.add(fence);
            }
        }
        if (pending.isEmpty()) {
            call.returnI32(StatusCode.OK.number());
            return;
        }
        await(call, timeoutMillis, pending);
    }

    private static void await(VmCall call, int timeoutMillis, List<Fence> pending) {
        for (Fence fence : pending) {
            fence.failure().ifPresent(failure -> {
                throw IreeException.of(failure.code(), failure.getMessage(), failure);
            });
        }
        // A deferred call is resumed when ready or timed out; a resumed call not ready now has timed out.
        if (timeoutMillis == 0 || call.resumed()) {
            handOnOwnWork();
            call.returnI32(StatusCode.DEADLINE_EXCEEDED.number());
            return;
        }
        MemoryHolder holder = MemoryHolder.current();
        if (holder != null && timeoutMillis < 0) { // with a timeout the call continues after the timeout
            holder.suspendsUntil(pending);
        }
        call.defer(new FenceWait(pending, timeoutMillis));
    }

    /** LANE-4: a program testing a fence may repeat the test until the fence is reached, and never wait. */
    private static void handOnOwnWork() {
        MemoryHolder holder = MemoryHolder.current();
        if (holder != null && holder.isWorkedOnHere()) {
            holder.handOnOwnWork();
        }
    }

    private static void query(HalState state, VmCall call) {
        handOnOwnWork();
        call.returnI32(call.required(Fence.class).query().number());
    }

    private static void signal(HalState state, VmCall call) {
        state.signal(call.required(Fence.class));
    }

    private static void fail(HalState state, VmCall call) {
        Fence fence = call.required(Fence.class);
        StatusCode code = StatusCode.of(call.i32() & STATUS_CODE_MASK);
        if (code == StatusCode.OK) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "a fence cannot fail with status OK; use hal.fence.signal");
        }
        fence.fail(IreeException.of(code, "failed by the program with hal.fence.fail"));
    }
}
