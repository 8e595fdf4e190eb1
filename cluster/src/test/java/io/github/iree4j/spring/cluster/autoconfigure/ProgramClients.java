package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.cluster.autoconfigure.ProgramCalls.Call;
import io.github.iree4j.status.IreeException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Threads that call the programs of nodes of this process, call after call, and take down the calls. */
final class ProgramClients implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(20);

    private static final CallOptions LIMITED = CallOptions.DEFAULTS.timeout(TIMEOUT);
    private static final List<String> PIPELINE = List.of("near", "far", "other", "near", "other", "far");

    private final List<Supplier<@Nullable ProgramNode>> nodes; // null while a node does not run
    private final ProgramCalls history;
    private final long seed;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger retried = new AtomicInteger();
    private volatile boolean stopped;

    private interface Work {
        void callOn(ProgramNode node, int index, Random random);
    }

    ProgramClients(List<Supplier<@Nullable ProgramNode>> nodes, ProgramCalls history, long seed) {
        this.nodes = List.copyOf(nodes);
        this.history = history;
        this.seed = seed;
    }

    /** Starts clients of each node: of single programs, of a pipeline, and two of the sum. */
    void startCalls() {
        start(this::single, this::pipeline, this::sum, this::sum);
    }

    /** Starts two clients of each node; failed calls are made once more, on a running node. */
    void startJobs() {
        start(this::job, this::job);
    }

    private void start(Work... all) {
        for (int node = 0; node < nodes.size(); node++) {
            for (Work work : all) {
                int index = node;
                Random random = new Random(seed + threads.size());
                threads.add(Thread.ofPlatform()
                        .daemon()
                        .name("client-" + threads.size())
                        .start(() -> run(index, work, random)));
            }
        }
    }

    private void run(int index, Work work, Random random) {
        while (!stopped) {
            ProgramNode node = nodes.get(index).get();
            try {
                if (node != null) {
                    work.callOn(node, index, random);
                }
            } catch (RuntimeException | Error e) {
                history.fault("%s: %s".formatted(Thread.currentThread().getName(), stack(e)));
            }
            LockSupport.parkNanos(random.nextInt(8_000_000));
        }
    }

    private static String stack(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private static float[] values(Random random) {
        return new float[] {1, random.nextInt(100), random.nextInt(100), random.nextInt(100)};
    }

    private void single(ProgramNode node, int index, Random random) {
        String program = FaultyCluster.PROGRAMS.get(random.nextInt(4));
        float[] a = values(random);
        float[] b = values(random);
        Call call = history.begin(program, ProgramHistory.plus(a, b));
        try (Results results = request(node, program).inputs(a, b).invoke()) {
            call.answered(results.tensor(0).toFloatArray());
        } catch (IreeException e) {
            call.failed(e);
        }
    }

    private void job(ProgramNode node, int index, Random random) {
        String program = random.nextInt(4) == 0 ? "near" : "spread";
        float[] a = values(random);
        float[] b = values(random);
        Call job = history.begin(program, ProgramHistory.plus(a, b));
        try (Results results = request(node, program).inputs(a, b).invoke()) {
            job.answered(results.tensor(0).toFloatArray());
            return;
        } catch (IreeException e) {
            // once more
        }
        ProgramNode again = nodes.get(index).get();
        for (int other = 1; again == null; other++) {
            again = nodes.get((index + other) % nodes.size()).get();
        }
        try (Results results = request(again, program).inputs(a, b).invoke()) {
            job.answered(results.tensor(0).toFloatArray());
            retried.incrementAndGet();
        } catch (IreeException e) {
            job.failed(e);
        }
    }

    /** Returns the number of jobs with success in the second try. */
    int retried() {
        return retried.get();
    }

    private static InvocationSpec request(ProgramNode node, String program) {
        return node.invocations().request(program + ".add").timeout(TIMEOUT);
    }

    /**
     * Each stage adds to the result of the previous stage, on another node, and is submitted before the previous stage
     * has run.
     */
    private void pipeline(ProgramNode node, int index, Random random) {
        List<Call> calls = new ArrayList<>();
        List<Submission<Results>> stages = new ArrayList<>();
        float[] sum = values(random);
        for (String program : PIPELINE) {
            float[] more = values(random);
            Submission<Results> before = stages.isEmpty() ? null : stages.getLast();
            float[] first = sum;
            sum = ProgramHistory.plus(sum, more);
            Call call = history.begin("pipeline." + program, sum);
            calls.add(call);
            try {
                stages.add(
                        before == null
                                ? request(node, program).inputs(first, more).submit()
                                : request(node, program)
                                        .inputs(before.results().join().tensor(0), more)
                                        .after(before.fence())
                                        .submit());
            } catch (CompletionException e) {
                call.failed((IreeException) e.getCause());
                break;
            } catch (IreeException e) {
                call.failed(e);
                break;
            }
        }
        boolean failed = false;
        for (int i = 0; i < stages.size(); i++) {
            Call call = calls.get(i);
            try (Results results = stages.get(i).await()) {
                if (failed) {
                    history.fault(call + " has results though the stage before has failed");
                }
                read(results, call); // which may fail when the node is lost after giving on the results
            } catch (IreeException e) {
                call.failed(e);
                failed = true;
            }
        }
    }

    private static void read(Results results, Call call) {
        try {
            call.answered(results.tensor(0).toFloatArray());
        } catch (IreeException e) {
            call.failed(e);
        }
    }

    private void sum(ProgramNode node, int index, Random random) {
        Optional<LoadedProgram> loaded = node.programs().find("sum");
        if (loaded.isEmpty()) {
            return;
        }
        Program program = loaded.get().program();
        float[] values = values(random);
        Call call = history.add("sum", program, values);
        try (Results results = program.function("add").call(LIMITED, values).await()) {
            float[] answer = results.tensor(0).toFloatArray();
            noteReload(node, program, call);
            call.answered(answer);
        } catch (IreeException e) {
            noteReload(node, program, call);
            call.failed(e);
        }
    }

    /** A reloaded program passes on its calls. */
    private static void noteReload(ProgramNode node, Program program, Call call) {
        node.programs()
                .find("sum")
                .map(LoadedProgram::program)
                .filter(now -> !now.equals(program))
                .ifPresent(call::reloaded);
    }

    /** Waits for the calls under way. */
    @Override
    public void close() {
        stopped = true;
        for (Thread each : threads) {
            try {
                if (!each.join(TIMEOUT.multipliedBy(PIPELINE.size()))) {
                    history.fault(each.getName() + " hangs: " + List.of(each.getStackTrace()));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
