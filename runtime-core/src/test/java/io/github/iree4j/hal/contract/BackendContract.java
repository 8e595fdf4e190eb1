package io.github.iree4j.hal.contract;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * All suites on a backend: a subclass gives the backend and has nothing to add. Each suite has a tag, for selection by
 * Maven: {@code -Dtest=LocalContractTest -Dgroups=queues}.
 */
public abstract class BackendContract {
    private final Backend tested;

    /** For subclasses; closed after the test. */
    protected BackendContract(Backend backend) {
        this.tested = backend;
    }

    @Nested
    @Tag("buffers")
    class Buffers extends BufferContract {
        Buffers() {
            super(tested);
        }
    }

    @Nested
    @Tag("closing")
    class Closing extends ClosingContract {
        Closing() {
            super(tested);
        }
    }

    @Nested
    @Tag("command-buffers")
    class CommandBuffers extends CommandBufferContract {
        CommandBuffers() {
            super(tested);
        }
    }

    @Nested
    @Tag("constants")
    class Constants extends ConstantContract {
        Constants() {
            super(tested);
        }
    }

    @Nested
    @Tag("deferred-calls")
    class DeferredCalls extends DeferredCallContract {
        DeferredCalls() {
            super(tested);
        }
    }

    @Nested
    @Tag("executables")
    class Executables extends ExecutableContract {
        Executables() {
            super(tested);
        }
    }

    @Nested
    @Tag("fences")
    class Fences extends FenceContract {
        Fences() {
            super(tested);
        }
    }

    @Nested
    @Tag("files")
    class Files extends FileContract {
        Files() {
            super(tested);
        }
    }

    @Nested
    @Tag("queues")
    class Queues extends QueueContract {
        Queues() {
            super(tested);
        }
    }

    @Nested
    @Tag("queue-costs")
    class QueueCosts extends QueueCostContract {
        QueueCosts() {
            super(tested);
        }
    }

    @Nested
    @Tag("queue-memory")
    class QueueMemory extends QueueMemoryContract {
        QueueMemory() {
            super(tested);
        }
    }

    @Nested
    @Tag("random-graphs")
    class RandomGraphs extends RandomGraphContract {
        RandomGraphs() {
            super(tested);
        }
    }

    @Nested
    @Tag("semaphores")
    class Semaphores extends SemaphoreContract {
        Semaphores() {
            super(tested);
        }
    }

    @Nested
    @Tag("collectives")
    class Meetings extends CollectiveContract {
        Meetings() {
            super(tested);
        }
    }

    @Nested
    @Tag("collectives")
    class CollectiveResults extends CollectiveResultsContract {
        CollectiveResults() {
            super(tested);
        }
    }
}
