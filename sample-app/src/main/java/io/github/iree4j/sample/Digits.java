package io.github.iree4j.sample;

import io.github.iree4j.spring.client.IreeClient;

/** Reads pictures of 8x8 pixels, 0 to 16 for each: the probabilities of the digits 0 to 9, a row for each picture. */
@IreeClient("digits")
interface Digits {
    float[][] classify(float[][] pictures);
}
