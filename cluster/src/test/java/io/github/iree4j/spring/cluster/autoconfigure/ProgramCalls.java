package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.status.IreeException;

/** Takes down calls of programs as their clients make them. Thread-safe. */
interface ProgramCalls {
    /** A call under way. Ends once. */
    interface Call {
        void answered(float[] values);

        void failed(IreeException cause);

        /**
         * Notes, before the end, that the program was loaded again during the call: the call has added to the sum of either. What it answers
         * does not count.
         */
        void reloaded(Object program);
    }

    /** Begins a call whose right answer is known. */
    Call begin(String name, float[] answer);

    /** Begins a call that adds values to the sum of a loaded program, the first of them 1, and answers the sum. */
    Call add(String name, Object program, float[] values);

    /** Notes something wrong that is not of one call. */
    void fault(String what);
}
