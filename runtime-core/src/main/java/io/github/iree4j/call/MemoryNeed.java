package io.github.iree4j.call;

import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryEstimate;
import io.github.iree4j.hal.pool.MemoryHolder;

/**
 * What calls of one function need of the memory of one device, as earlier calls have shown. Safe from any thread.
 *
 * <p>Copies of inputs from the host are left out of what is learned, and added to what is asked for: what a call needs beside its inputs is the
 * same wherever those are.
 */
final class MemoryNeed {
    /** Without evidence that grows with the inputs: this multiple of them. A guess, not measured. */
    private static final long UNKNOWN = 8;

    /** What smaller inputs needed may mislead by this factor. A guess, not measured. */
    private static final long DOUBT = 128;

    /** What the first call of a function may need at least: where that exceeds the limit it runs alone. A guess, not measured. */
    private static final long UNSEEN = 64L << 20;

    /** After so many failures in a row the next call need not run alone: nobody would learn from it. A guess, not measured. */
    private static final int TRIES = 3;

    private final AdmissionGate gate;
    private final boolean isOfFirstDevice;
    private final Peaks besideCopies = new Peaks();
    private volatile int failures; // since the last success; approximate where threads count at once
    private volatile long failedPeak; // the most that one of them held

    /**
     * Nothing is known at first.
     *
     * @param gate where calls ask for that memory
     * @param isOfFirstDevice whether it is the device to which inputs from the host are copied
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

    /** The need of one call, as the line for admission asks for it. */
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

    /** Whether calls with such inputs have shown that they need nothing. */
    boolean isNothing(InputSize inputs) {
        return evidence(inputs) == 0;
    }

    private long copied(InputSize inputs) {
        return isOfFirstDevice ? inputs.copied() : 0;
    }

    /** The most that calls with such inputs, or larger ones, have shown to need; -1 if there was none. */
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

    /** What a call may need, for all that is known. */
    private long most(InputSize inputs) {
        long bytes = of(inputs);
        if (failures >= TRIES || evidence(inputs) >= 0) {
            return bytes;
        }
        return besideCopies.isEmpty() ? Math.max(DOUBT * bytes, UNSEEN) : DOUBT * bytes;
    }

    /** Records what a call that has succeeded held. */
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
