package io.github.iree4j.modules.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.pool.MemoryHolder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The work submitted by calls of a context, for programs that signal the caller's fence before the submitted work has
 * finished. Fences created by the program itself are signalled at once, since other work of the program may wait for
 * these fences. One thread at a time, as for the context.
 */
final class SubmittedWork implements AutoCloseable {
    private static final int MANY = 64; // reached signals are dropped at each multiple of this number

    private final Map<@Nullable MemoryHolder, List<Fence>> signals = new HashMap<>();
    private final Set<Fence> made = Collections.newSetFromMap(new WeakHashMap<>());
    private @Nullable DeviceQueue last;

    /** Records a fence created by the program. */
    void made(@Nullable Fence fence) {
        if (fence != null) {
            made.add(fence);
        }
    }

    /** Records a submission signalling a fence, made by the call. Calls that ended without signalling are forgotten. */
    void add(DeviceQueue queue, @Nullable Fence signal) {
        last = queue;
        if (signal == null) {
            return;
        }
        MemoryHolder call = MemoryHolder.current();
        List<Fence> own = signals.get(call);
        if (own == null) {
            signals.entrySet().removeIf(each -> each.getKey() != null && isComplete(each.getKey(), each.getValue()));
            own = new ArrayList<>();
            signals.put(call, own);
        } else if (own.size() % MANY == 0) {
            forgetReached(own);
        }
        signal.retain();
        own.add(signal);
    }

    private static void forgetReached(List<Fence> fences) {
        fences.removeIf(fence -> {
            boolean reached = fence.isReached();
            if (reached) {
                fence.release();
            }
            return reached;
        });
    }

    private static boolean isComplete(MemoryHolder call, List<Fence> fences) {
        if (!call.isFinished()) {
            return false;
        }
        fences.forEach(Fence::release);
        return true;
    }

    /**
     * Signals a fence. A fence of the caller is signalled after all work submitted by the call, and after the fences
     * signalled before by the call.
     */
    void signal(Fence fence) {
        List<Fence> own = signals.get(MemoryHolder.current());
        DeviceQueue queue = last;
        if (own == null || queue == null || made.contains(fence)) {
            fence.signal();
            return;
        }
        try (Fence all = Objects.requireNonNull(Fence.joinNullable(own))) {
            queue.barrier(all, fence, 0);
        }
        own.forEach(Fence::release);
        own.clear();
        fence.retain();
        own.add(fence);
    }

    @Override
    public void close() {
        signals.values().forEach(each -> each.forEach(Fence::release));
        signals.clear();
    }
}
