package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Transfers that threads of ours make. */
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
    void whyThreadsMakeThemIsSaid() {
        try (SystemIo io = SystemIo.create("pool", System::nanoTime, SystemIo.Files.POOL, descriptor -> 0)) {
            assertThat(io.fileTransfers()).isEqualTo("thread pool (io_uring is switched off)");
        }
    }
}
