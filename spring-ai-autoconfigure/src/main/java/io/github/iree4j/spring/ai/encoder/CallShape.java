package io.github.iree4j.spring.ai.encoder;

/**
 * A possible shape of calls of an encoder.
 *
 * @param rows number of texts; 0 for any number
 * @param length number of tokens of each text; 0 for any number
 * @param price cost of a token, relative to other shapes of the encoder
 */
record CallShape(int rows, int length, double price) {

    static final CallShape ANY = new CallShape(0, 0, 1);
}
