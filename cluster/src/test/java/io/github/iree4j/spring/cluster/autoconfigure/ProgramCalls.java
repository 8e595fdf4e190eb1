package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.status.IreeException;

/** Takes down calls of programs as made by the clients. Thread-safe. */
interface ProgramCalls {
    /** A call under way. Ends once. */
    interface Call {
        void answered(float[] values);

        void failed(IreeException cause);

        /**
         * Notes, before the end, a reload of the program during the call: the call has added to the sum of either. The
         * answer does not count.
         */
        void reloaded(Object program);
    }

    /** Begins a call with a known right answer. */
    Call begin(String name, float[] answer);

    /** Begins a call that adds values to the sum of a loaded program, the first value being 1, and answers the sum. */
    Call add(String name, Object program, float[] values);

    /** Notes a fault of no single call. */
    void fault(String what);
}
