package io.github.iree4j.sample;

import io.github.iree4j.spring.test.EnabledIfIreeDriver;

/** The digits program on CUDA, usually on a driver without hardware. */
@EnabledIfIreeDriver("cuda")
class DigitsCudaTests extends DigitsOnDeviceTests {
    DigitsCudaTests() {
        super("cuda", "cuda-nvptx-fb");
    }
}
