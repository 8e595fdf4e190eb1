package io.github.iree4j.call;

import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.tensor.DeviceMemory;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * The need of a function's calls for memory of each device: the devices of the program, and other devices as soon as
 * nested calls have held memory there. Safe from any thread.
 */
final class MemoryNeeds {
    /** What a call without a known need waits for. */
    static final String OF_EARLIER_CALLS = "memory of earlier calls";

    private final AtomicReference<List<MemoryNeed>> byDevice;

    MemoryNeeds(DeviceMemory memory) {
        this.byDevice = new AtomicReference<>(memory.gates().stream()
                .map(gate -> new MemoryNeed(gate, gate.equals(memory.gate())))
                .toList());
    }

    /**
     * The needs of a call, in the {@linkplain AdmissionGate#ORDER order} of its requests. A call always requests
     * admission at its first device, so that calls of a program keep their order, and at other devices unless the call
     * is known to need nothing there.
     */
    List<MemoryNeed> of(InputSize inputs) {
        List<MemoryNeed> all = byDevice.get();
        return all.size() == 1
                ? all
                : all.stream()
                        .filter(each -> each.isOfFirstDevice() || !each.isNothing(inputs))
                        .toList();
    }

    /** The needs of a nested call at devices where the outer call has not requested admission. */
    static List<MemoryNeed> beside(MemoryHolder outer, List<MemoryNeed> all) {
        return all.stream().filter(each -> outer.admission(each.gate()) == null).toList();
    }

    /** The need at the first device alone. */
    List<MemoryNeed> atFirstDevice() {
        List<MemoryNeed> all = byDevice.get();
        return all.size() == 1
                ? all
                : all.stream().filter(MemoryNeed::isOfFirstDevice).toList();
    }

    /** Describes the memory for which a call waits before being made, an estimate, and the ground of the estimate. */
    static String expected(List<MemoryNeed> needs, InputSize inputs) {
        long bytes = needs.stream().mapToLong(each -> each.of(inputs)).sum();
        if (bytes == 0) {
            return OF_EARLIER_CALLS;
        }
        return "%d bytes of memory, the expected need: %s"
                .formatted(
                        bytes,
                        needs.stream().allMatch(each -> each.isShown(inputs))
                                ? "as much as earlier calls with inputs of the same, or the next larger, size have held"
                                : "a guess, since no call with inputs of the same size, or larger, has succeeded");
    }

    /** Records the memory held by a call that has succeeded. */
    void learn(InputSize inputs, MemoryHolder call) {
        for (AdmissionGate gate : call.gates()) {
            if (!hasOf(byDevice.get(), gate) && call.peak(gate) > 0) {
                byDevice.updateAndGet(before -> with(before, gate));
            }
        }
        byDevice.get().forEach(each -> each.learn(inputs, call));
    }

    /** A loop, since this method runs at each call. */
    private static boolean hasOf(List<MemoryNeed> needs, AdmissionGate gate) {
        for (MemoryNeed each : needs) {
            if (each.gate().equals(gate)) {
                return true;
            }
        }
        return false;
    }

    private static List<MemoryNeed> with(List<MemoryNeed> before, AdmissionGate gate) {
        return hasOf(before, gate)
                ? before
                : Stream.concat(before.stream(), Stream.of(new MemoryNeed(gate, false)))
                        .sorted(Comparator.comparing(MemoryNeed::gate, AdmissionGate.ORDER))
                        .toList();
    }

    /** Records that a call has failed after being made. */
    void failed(MemoryHolder call) {
        byDevice.get().forEach(each -> each.failed(call));
    }
}
