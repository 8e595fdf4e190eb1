package io.github.iree4j.call;

import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.tensor.DeviceMemory;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * What calls of one function need of the memory of each device: the devices of its program, and others as soon as nested calls have held memory
 * there. Safe from any thread.
 */
final class MemoryNeeds {
    private final AtomicReference<List<MemoryNeed>> byDevice;

    MemoryNeeds(DeviceMemory memory) {
        this.byDevice = new AtomicReference<>(memory.gates().stream()
                .map(gate -> new MemoryNeed(gate, gate.equals(memory.gate())))
                .toList());
    }

    /**
     * The needs of a call, in the {@linkplain AdmissionGate#ORDER order} in which it asks. A call always asks at its first device, so that calls
     * of a program keep their order, and at others unless it is known to need nothing there.
     */
    List<MemoryNeed> of(InputSize inputs) {
        List<MemoryNeed> all = byDevice.get();
        return all.size() == 1
                ? all
                : all.stream()
                        .filter(each -> each.isOfFirstDevice() || !each.isNothing(inputs))
                        .toList();
    }

    /** Of a call that another makes: those of its needs at devices where that one has not asked. */
    static List<MemoryNeed> beside(MemoryHolder outer, List<MemoryNeed> all) {
        return all.stream().filter(each -> outer.admission(each.gate()) == null).toList();
    }

    /** The need of its first device alone. */
    List<MemoryNeed> atFirstDevice() {
        List<MemoryNeed> all = byDevice.get();
        return all.size() == 1
                ? all
                : all.stream().filter(MemoryNeed::isOfFirstDevice).toList();
    }

    /** Records what a call that has succeeded held. */
    void learn(InputSize inputs, MemoryHolder call) {
        for (AdmissionGate gate : call.gates()) {
            if (!hasOf(byDevice.get(), gate) && call.peak(gate) > 0) {
                byDevice.updateAndGet(before -> with(before, gate));
            }
        }
        byDevice.get().forEach(each -> each.learn(inputs, call));
    }

    /** A loop, since each call asks. */
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

    /** Records that a call that was made has failed. */
    void failed(MemoryHolder call) {
        byDevice.get().forEach(each -> each.failed(call));
    }
}
