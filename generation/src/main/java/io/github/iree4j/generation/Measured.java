package io.github.iree4j.generation;

import java.util.List;

/**
 * How a program computes rows, as measured by {@link RowProbe}. Only equal functions and shapes are used.
 *
 * @param prefills prefill functions that compute equal bits, by ascending batch size; not empty
 * @param decodes decode functions that compute equal bits, by ascending batch size; not empty
 * @param rows whether a row has equal bits in every place and beside every other row; otherwise a step has a single sequence
 * @param shapes whether the bits of a row do not depend on the number of tokens and columns of the step, so that a step
 *     is as small as its sequences allow; otherwise all steps have the same shape
 * @param alike whether prefill and decode functions compute equal bits for a token, so that either may compute generated
 *     tokens; otherwise decode functions compute all generated tokens
 * @param verifiable whether prefill functions return the logits of every token, so that a step can verify proposed tokens
 */
record Measured(
        List<Entry> prefills, List<Entry> decodes, boolean rows, boolean shapes, boolean alike, boolean verifiable) {
    Measured {
        prefills = List.copyOf(prefills);
        decodes = List.copyOf(decodes);
    }

    /** Returns the most sequences that run at the same time. */
    int sequences() {
        return rows ? decodes.getLast().batch() : 1;
    }

    /** Returns the smallest function for a number of sequences, else the largest function. */
    static Entry smallest(List<Entry> entries, int sequences) {
        for (Entry each : entries) {
            if (each.batch() >= sequences) {
                return each;
            }
        }
        return entries.getLast();
    }
}
