package io.github.iree4j.call;

import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryEstimate;
import io.github.iree4j.hal.pool.MemoryHolder;

/**
 * The need of a function's calls for memory of a device, as shown by earlier calls. Safe from any thread.
 *
 * <p>Copies of inputs from the host are excluded from the recorded need and added to the request: the need of a call
 * beside its inputs does not depend on the place of the inputs.
 */
final class MemoryNeed {
    /** Guessed need without evidence that grows with the inputs: this multiple of the inputs. A guess, not measured. */
    private static final long UNKNOWN = 8;

    /** Factor by which the need of smaller inputs may mislead. A guess, not measured. */
    private static final long DOUBT = 128;

    /** Possible need of the first call of a function, at least: where this need exceeds the limit, the call runs alone. A guess, not measured. */
    private static final long UNSEEN = 64L << 20;

    /** Number of consecutive failures after which the next call need not run alone: nobody would learn from the call. A guess, not measured. */
    private static final int TRIES = 3;

    private final AdmissionGate gate;
    private final boolean isOfFirstDevice;
    private final Peaks besideCopies = new Peaks();
    private volatile int failures; // since the last success; approximate where threads count at once
    private volatile long failedPeak; // the highest peak of a failed call

    /**
     * Creates a need about which nothing is known.
     *
     * @param gate where calls request memory of the device
     * @param isOfFirstDevice whether inputs from the host are copied to the device
     */
    MemoryNeed(AdmissionGate gate, boolean isOfFirstDevice) {
        this.gate = gate;
        this.isOfFirstDevice = isOfFirstDevice;
    }

    boolean isOfFirstDevice() {
        return isOfFirstDevice;
    }

    AdmissionGate gate() {
        return gate;
    }

    /** The need of one call, as read by the line for admission. */
    private record Estimate(MemoryNeed need, InputSize size) implements MemoryEstimate {
        @Override
        public long inputs() {
            return need.copied(size);
        }

        @Override
        public long bytes() {
            return need.of(size);
        }

        @Override
        public long most() {
            return need.most(size);
        }
    }

    /** The need of a call with such inputs. */
    MemoryEstimate estimate(InputSize inputs) {
        return new Estimate(this, inputs);
    }

    /** Whether calls with such inputs have shown a need of nothing. */
    boolean isNothing(InputSize inputs) {
        return evidence(inputs) == 0;
    }

    /** Whether calls with such inputs, or larger inputs, have shown the need. */
    boolean isShown(InputSize inputs) {
        return evidence(inputs) >= 0;
    }

    private long copied(InputSize inputs) {
        return isOfFirstDevice ? inputs.copied() : 0;
    }

    /** The highest need shown by calls with such inputs, or larger inputs; -1 if there was no such call. */
    private long evidence(InputSize inputs) {
        long beside = besideCopies.ofAtLeast(inputs.bytes());
        return beside < 0 ? -1 : beside + copied(inputs);
    }

    /** Predicts the peak of a call. */
    long of(InputSize inputs) {
        long evidence = evidence(inputs);
        if (evidence >= 0) {
            return evidence;
        }
        long copies = copied(inputs);
        long guess = Math.max(failedPeak, failures >= TRIES ? copies : UNKNOWN * inputs.bytes());
        return besideCopies.inProportion(inputs.bytes(), Math.max(0, guess - copies)) + copies;
    }

    /** The possible need of a call, for all that is known. */
    private long most(InputSize inputs) {
        long bytes = of(inputs);
        if (failures >= TRIES || isShown(inputs)) {
            return bytes;
        }
        return besideCopies.isEmpty() ? Math.max(DOUBT * bytes, UNSEEN) : DOUBT * bytes;
    }

    /** Records the memory held by a call that has succeeded. */
    void learn(InputSize inputs, MemoryHolder call) {
        learn(inputs, call.peak(gate));
    }

    void learn(InputSize inputs, long peak) {
        besideCopies.learn(inputs.bytes(), Math.max(0, peak - copied(inputs)));
        if (failures > 0) {
            failures = 0;
        }
    }

    /** Records that a call has failed. */
    void failed(MemoryHolder call) {
        failed(call.peak(gate));
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // approximate
    void failed(long peak) {
        failures++;
        failedPeak = Math.max(failedPeak, peak);
    }
}
