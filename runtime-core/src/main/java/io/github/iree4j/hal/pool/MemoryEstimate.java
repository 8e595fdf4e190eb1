package io.github.iree4j.hal.pool;

/** What a call that asks for admission is expected to hold. Asked again whenever its turn may have come: earlier calls teach. */
public interface MemoryEstimate {
    /**
     * Returns the memory that its inputs take.
     *
     * @return bytes
     */
    long inputs();

    /**
     * Returns the expected peak.
     *
     * @return bytes
     */
    long bytes();

    /**
     * Returns what the call might hold, for all that is known.
     *
     * @return bytes; the expected peak if that is evidence, the peak of an earlier call, rather than a guess
     */
    long most();
}
