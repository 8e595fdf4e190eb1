package io.github.iree4j.spring;

import java.io.OutputStream;

/** Measures how much more heap is in use when the first bytes are written than before. */
public final class HeapAtFirstWrite extends OutputStream {
    private final long before = used();
    private long taken = Long.MIN_VALUE;

    public long taken() {
        return taken;
    }

    @Override
    public void write(int value) {
        write(new byte[1], 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        if (taken == Long.MIN_VALUE) {
            taken = used() - before;
        }
    }

    private static long used() {
        for (int i = 0; i < 3; i++) {
            System.gc(); // freed by cleaners
        }
        Runtime heap = Runtime.getRuntime();
        return heap.totalMemory() - heap.freeMemory();
    }
}
