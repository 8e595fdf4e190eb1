package io.github.iree4j.hal.local;

/** The local device with all work done by its only worker. */
class OneWorkerTest extends WorkersContract {
    OneWorkerTest() {
        super(1);
    }
}
