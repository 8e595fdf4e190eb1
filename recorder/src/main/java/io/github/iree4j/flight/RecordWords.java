package io.github.iree4j.flight;

import java.util.Arrays;

/** Consecutive records, sorted through an index. Confined to one thread. */
final class RecordWords implements WordTarget {
    private long[] words = new long[1024];
    private int size;
    private int[] starts = new int[64];
    private int count;

    /** Begins a record of the given number of words, added by {@link #put}. */
    void begin(int length) {
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, count * 2);
        }
        starts[count++] = size;
        if (size + length > words.length) {
            words = Arrays.copyOf(words, Math.max(size + length, words.length * 2));
        }
    }

    /** Begins a record with the header. The caller puts the other words. */
    void begin(int type, int payload, long number, long time) {
        int length = RecordType.HEADER + payload;
        begin(length);
        put(RecordType.header(type, length));
        put(number);
        put(time);
    }

    @Override
    public void put(long word) {
        words[size++] = word;
    }

    /** Adds a copy of a record. */
    void add(long[] source, int start) {
        int length = RecordType.words(source[start]);
        begin(length);
        System.arraycopy(source, start, words, size, length);
        size += length;
    }

    int count() {
        return count;
    }

    /** Returns the total number of words. */
    int size() {
        return size;
    }

    int start(int record) {
        return starts[record];
    }

    long word(int record, int index) {
        return words[starts[record] + index];
    }

    long[] words() {
        return words;
    }

    /** Returns these sorted records and others, in the order of sequence numbers. */
    RecordWords with(RecordWords others) {
        for (int i = 0; i < others.count; i++) {
            add(others.words, others.starts[i]);
        }
        return sorted();
    }

    /** Returns the first records. */
    RecordWords first(int number) {
        RecordWords result = new RecordWords();
        for (int i = 0; i < number; i++) {
            result.add(words, starts[i]);
        }
        return result;
    }

    /** Returns the records in the order of sequence numbers. */
    RecordWords sorted() {
        long[] keys = new long[count]; // sequence numbers of a recording differ by less than 2^40
        long base = count == 0 ? 0 : Long.MAX_VALUE;
        for (int i = 0; i < count; i++) {
            base = Math.min(base, word(i, 1));
        }
        Integer[] order = null;
        for (int i = 0; i < count; i++) {
            long distance = word(i, 1) - base;
            if (distance < 0 || distance >= 1L << 38 || count > 1 << 25) {
                order = new Integer[count];
                break;
            }
            keys[i] = distance << 25 | i;
        }
        RecordWords result = new RecordWords();
        if (order != null) { // of a damaged file
            for (int i = 0; i < count; i++) {
                order[i] = i;
            }
            Arrays.sort(order, (left, right) -> Long.compare(word(left, 1), word(right, 1)));
            for (int each : order) {
                result.add(words, starts[each]);
            }
            return result;
        }
        Arrays.sort(keys);
        for (long key : keys) {
            result.add(words, starts[(int) (key & (1 << 25) - 1)]);
        }
        return result;
    }
}
