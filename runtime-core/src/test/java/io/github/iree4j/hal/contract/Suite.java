package io.github.iree4j.hal.contract;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/** Tests of one backend; they close what they open. */
abstract class Suite {
    final Backend backend;
    private final List<AutoCloseable> toClose = new ArrayList<>();

    /** One class is run on many backends. */
    @RegisterExtension
    final TestExecutionExceptionHandler names = this::nameBackend;

    Suite(Backend backend) {
        this.backend = backend;
    }

    private void nameBackend(ExtensionContext test, Throwable failure) throws Throwable {
        if (!(failure instanceof TestAbortedException)) {
            failure.addSuppressed(new AssertionError(test.getDisplayName() + " on " + backend.name()));
        }
        throw failure;
    }

    /** Closes something after the test, before what was opened before it. */
    final <T extends AutoCloseable> T closed(T closeable) {
        toClose.add(closeable);
        return closeable;
    }

    /** Skips the test on backends that lack something. */
    final void assume(Capability capability) {
        assumeTrue(backend.has(capability), capability.cause());
    }

    @AfterEach
    final void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        checkClosed();
        backend.close();
    }

    /** Checks what the test has left, before the backend is closed. */
    void checkClosed() {}
}
