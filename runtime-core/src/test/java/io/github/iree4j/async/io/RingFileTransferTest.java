package io.github.iree4j.async.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.nativeaccess.FileRing;
import io.github.iree4j.status.IreeException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Transfers made by the kernel. */
class RingFileTransferTest extends FileTransferContract {
    @BeforeAll
    static void kernelPermits() {
        try {
            FileRing.create(2).close();
        } catch (IreeException e) {
            Assumptions.abort("io_uring: " + e.getMessage());
        }
    }

    @Override
    SystemIo.Files files() {
        return SystemIo.Files.RING;
    }

    @Override
    boolean ownerBegins() {
        return true;
    }

    @Test
    void theKernelMakesTransfers() {
        try (SystemIo io = SystemIo.create("best", System::nanoTime)) {
            assertThat(io.fileTransfers()).isEqualTo("io_uring");
        }
    }
}
