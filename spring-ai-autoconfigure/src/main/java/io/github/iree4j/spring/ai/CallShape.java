package io.github.iree4j.spring.ai;

/**
 * A shape that calls of an encoder can have.
 *
 * @param rows for how many texts its tensors have room; 0 for any number
 * @param length for how many tokens of each text; 0 for any number
 * @param price what a token costs, compared with other shapes of the encoder
 */
record CallShape(int rows, int length, double price) {

    static final CallShape ANY = new CallShape(0, 0, 1);
}
