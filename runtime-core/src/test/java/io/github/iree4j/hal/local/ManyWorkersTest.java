package io.github.iree4j.hal.local;

/** The local device with all work done by more workers than processors. */
class ManyWorkersTest extends WorkersContract {
    ManyWorkersTest() {
        super(6);
    }
}
