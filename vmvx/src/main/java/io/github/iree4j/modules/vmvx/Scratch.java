package io.github.iree4j.modules.vmvx;

import java.util.Arrays;

/** Scratch arrays of a context, kept between calls: HotSpot vectorises loops over arrays. */
final class Scratch {
    private static final int SLOTS = 4;

    private final float[][] floats = new float[SLOTS][0];
    private final int[][] ints = new int[SLOTS][0];

    private final float[][][] floatRows = new float[SLOTS][0][];
    private final int[][][] intRows = new int[SLOTS][0][];

    /** Returns at least {@code count} arrays of at least {@code size}, with undefined contents. */
    float[][] floatRows(int slot, int count, int size) {
        float[][] rows = floatRows[slot];
        if (rows.length < count) {
            rows = Arrays.copyOf(rows, count);
            floatRows[slot] = rows;
        }
        for (int i = 0; i < count; i++) {
            if (rows[i] == null || rows[i].length < size) {
                rows[i] = new float[size];
            }
        }
        return rows;
    }

    /** Returns at least {@code count} arrays of at least {@code size}, with undefined contents. */
    int[][] intRows(int slot, int count, int size) {
        int[][] rows = intRows[slot];
        if (rows.length < count) {
            rows = Arrays.copyOf(rows, count);
            intRows[slot] = rows;
        }
        for (int i = 0; i < count; i++) {
            if (rows[i] == null || rows[i].length < size) {
                rows[i] = new int[size];
            }
        }
        return rows;
    }

    /** Returns an array of at least {@code size}, with undefined contents. */
    float[] floats(int slot, int size) {
        float[] array = floats[slot];
        if (array.length < size) {
            array = new float[size];
            floats[slot] = array;
        }
        return array;
    }

    /** Returns an array of at least {@code size}, with undefined contents. */
    int[] ints(int slot, int size) {
        int[] array = ints[slot];
        if (array.length < size) {
            array = new int[size];
            ints[slot] = array;
        }
        return array;
    }
}
