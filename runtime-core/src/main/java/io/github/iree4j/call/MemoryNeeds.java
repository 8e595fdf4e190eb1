package io.github.iree4j.call;

import io.github.iree4j.hal.pool.Admission;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.tensor.DeviceMemory;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * The need of a function's calls for memory of each device: the devices of the program, and other devices as soon as
 * nested calls have held memory there. Safe from any thread.
 */
final class MemoryNeeds {
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

    /**
     * Describes the memory for which a call waits before being made, an estimate, and the ground of the estimate.
     *
     * @param places the call's places in the lines joined so far, each looked at once: a call is admitted meanwhile
     */
    static MemoryWait awaited(List<MemoryNeed> needs, InputSize inputs, Collection<Admission> places) {
        Set<Admission.Awaited> awaited = EnumSet.noneOf(Admission.Awaited.class);
        places.forEach(each -> awaited.add(each.awaited()));
        PendingCall.State state = awaited.contains(Admission.Awaited.SOLITUDE)
                ? PendingCall.State.FOR_ADMISSION
                : awaited.contains(Admission.Awaited.ROOM) ? PendingCall.State.FOR_MEMORY : PendingCall.State.IN_LINE;
        if (state == PendingCall.State.IN_LINE && places.size() == needs.size()) {
            return MemoryWait.NONE;
        }
        return new MemoryWait(
                () -> expected(needs, inputs), state == PendingCall.State.IN_LINE ? 0 : bytes(needs, inputs), state);
    }

    private static long bytes(List<MemoryNeed> needs, InputSize inputs) {
        return needs.stream().mapToLong(each -> each.of(inputs)).sum();
    }

    static String expected(List<MemoryNeed> needs, InputSize inputs) {
        long bytes = bytes(needs, inputs);
        return bytes == 0
                ? MemoryWait.EARLIER_CALLS
                : "%d bytes of memory, the expected need: %s"
                        .formatted(
                                bytes,
                                needs.stream().allMatch(each -> each.isShown(inputs))
                                        ? "as much as earlier calls with inputs of the same, or the next larger, size have held"
                                        : "a guess, since no call with inputs of the same size, or larger, has succeeded");
    }

    /** Records the memory held by a call that has succeeded. */
    void learn(InputSize inputs, MemoryHolder call) {
        call.forEachGate(gate -> {
            if (!hasOf(byDevice.get(), gate) && call.peak(gate) > 0) {
                byDevice.updateAndGet(before -> with(before, gate));
            }
        });
        List<MemoryNeed> known = byDevice.get();
        for (int i = 0; i < known.size(); i++) {
            known.get(i).learn(inputs, call);
        }
    }

    /** A loop without an iterator, since this method runs at each call. */
    private static boolean hasOf(List<MemoryNeed> needs, AdmissionGate gate) {
        for (int i = 0; i < needs.size(); i++) {
            if (needs.get(i).gate().equals(gate)) {
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
