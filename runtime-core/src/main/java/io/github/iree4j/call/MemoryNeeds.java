package io.github.iree4j.call;

import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.tensor.DeviceMemory;
import java.util.List;

/** What calls of one function need of the memory of each device of its program. Safe from any thread. */
final class MemoryNeeds {
    private final List<MemoryNeed> byDevice;

    MemoryNeeds(DeviceMemory memory) {
        this.byDevice = memory.gates().stream()
                .map(gate -> new MemoryNeed(gate, gate.equals(memory.gate())))
                .toList();
    }

    /**
     * The needs of a call, in the {@linkplain AdmissionGate#ORDER order} in which it asks. It always asks at its first device, so that calls of a
     * program keep their order, and at others unless it is known to need nothing there.
     */
    List<MemoryNeed> of(InputSize inputs) {
        return byDevice.size() == 1
                ? byDevice
                : byDevice.stream()
                        .filter(each -> each.isOfFirstDevice() || !each.isNothing(inputs))
                        .toList();
    }

    /** The need of its first device alone. */
    List<MemoryNeed> atFirstDevice() {
        return byDevice.size() == 1
                ? byDevice
                : byDevice.stream().filter(MemoryNeed::isOfFirstDevice).toList();
    }

    /** Records what a call that has succeeded held. After its end. */
    void learn(InputSize inputs, MemoryHolder call) {
        byDevice.forEach(each -> each.learn(inputs, call));
    }

    /** Records that a call that was made has failed. */
    void failed(MemoryHolder call) {
        byDevice.forEach(each -> each.failed(call));
    }
}
