package io.github.iree4j.generation;

import java.util.Arrays;

/**
 * The tokens whose keys and values the pages of a draft's cache hold. Pages change hands without notice, so each page
 * says which tokens it holds, and behind which other tokens. Not thread-safe.
 */
final class DraftPages {
    private static final long STEP = 0x9E3779B97F4A7C15L; // odd numbers with bits in no order
    private static final long MULTIPLIER = 0xD6E8FEB86659FD93L;

    private final int stride;
    private final int[] tokens; // of all pages
    private final int[] counts; // tokens of each page
    private final long[] starts; // hash of the tokens before each page: equal hashes of others cost a wrong proposal
    private final long[] ends; // hash of the tokens up to the end of each full page

    DraftPages(int stride, int pages) {
        this.stride = stride;
        this.tokens = new int[Math.multiplyExact(stride, pages)];
        this.counts = new int[pages];
        this.starts = new long[pages];
        this.ends = new long[pages];
    }

    /** Returns the number of first tokens of a sequence that its pages hold. */
    int known(Sequence sequence) {
        long hash = 0;
        int known = 0;
        for (int i = 0; i < sequence.pageCount(); i++) {
            int page = sequence.page(i);
            int count = Math.min(counts[page], sequence.length() - known);
            if (count == 0 || starts[page] != hash) {
                break;
            }
            int from = page * stride;
            int same = Arrays.mismatch(tokens, from, from + count, sequence.tokens(), known, known + count);
            known += same < 0 ? count : same;
            if (known < (i + 1) * stride) {
                break;
            }
            hash = ends[page];
        }
        return known;
    }

    /** Records that a step has read tokens of a sequence, whose tokens before are held. Tokens behind are lost. */
    void read(Sequence sequence, int from, int count) {
        for (int at = from; at < from + count; at++) {
            int page = sequence.page(at / stride);
            int offset = at % stride;
            if (offset == 0) {
                starts[page] = at == 0 ? 0 : ends[sequence.page(at / stride - 1)];
            }
            tokens[page * stride + offset] = sequence.tokens()[at];
            counts[page] = offset + 1;
            if (offset + 1 == stride) {
                ends[page] = hash(page);
            }
        }
    }

    private long hash(int page) {
        long hash = starts[page];
        for (int i = 0; i < stride; i++) {
            hash += (tokens[page * stride + i] + 1) * STEP;
            hash = (hash ^ hash >>> 32) * MULTIPLIER;
            hash ^= hash >>> 32;
        }
        return hash;
    }

    /** Records that a page holds nothing. */
    void forget(int page) {
        counts[page] = 0;
    }
}
