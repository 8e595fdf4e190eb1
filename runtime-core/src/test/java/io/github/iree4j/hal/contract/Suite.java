package io.github.iree4j.hal.contract;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/** Tests of a backend; every test closes all it opens. */
abstract class Suite {
    final Backend backend;
    private final List<AutoCloseable> toClose = new ArrayList<>();

    /** A class runs on many backends. */
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

    /** Closes an object after the test, before all earlier objects. */
    final <T extends AutoCloseable> T closed(T closeable) {
        toClose.add(closeable);
        return closeable;
    }

    /** Skips the test on backends with a missing ability. */
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

    /** Checks the leftovers of the test, before the backend is closed. */
    void checkClosed() {}
}
