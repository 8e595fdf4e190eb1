package io.github.iree4j.async.io;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Transfers made by the thread pool. */
class PoolFileTransferTest extends FileTransferContract {
    @Override
    SystemIo.Files files() {
        return SystemIo.Files.POOL;
    }

    @Override
    boolean ownerBegins() {
        return false;
    }

    @Test
    void theReasonForTheFallbackIsReported() {
        try (SystemIo io = SystemIo.create("pool", System::nanoTime, SystemIo.Files.POOL, descriptor -> 0)) {
            assertThat(io.fileTransfers()).isEqualTo("thread pool (io_uring is switched off)");
        }
    }
}
