package io.github.iree4j.modules.vmvx;

/** Arrays to compute in, kept from call to call: HotSpot vectorises loops over arrays. Of one context. */
final class Scratch {
    private static final int SLOTS = 4;

    private final float[][] floats = new float[SLOTS][0];
    private final int[][] ints = new int[SLOTS][0];

    /** An array of at least a size; contents are anything. */
    float[] floats(int slot, int size) {
        float[] array = floats[slot];
        if (array.length < size) {
            array = new float[size];
            floats[slot] = array;
        }
        return array;
    }

    /** An array of at least a size; contents are anything. */
    int[] ints(int slot, int size) {
        int[] array = ints[slot];
        if (array.length < size) {
            array = new int[size];
            ints[slot] = array;
        }
        return array;
    }
}
