package io.github.iree4j.hal.local;

/** The local device with all work done by more workers than there are processors here. */
class ManyWorkersTest extends WorkersContract {
    ManyWorkersTest() {
        super(6);
    }
}
