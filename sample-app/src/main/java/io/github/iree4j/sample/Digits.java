package io.github.iree4j.sample;

import io.github.iree4j.spring.client.IreeClient;

@IreeClient("digits")
interface Digits {
    float[][] classify(float[][] pictures); // rows of 8x8 pixels, 0 to 16 each; rows of 10 probabilities
}
