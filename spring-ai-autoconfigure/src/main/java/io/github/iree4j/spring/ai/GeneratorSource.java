package io.github.iree4j.spring.ai;

import io.github.iree4j.Program;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.generation.Generation;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.GenerationResult.FinishReason;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.generation.GeneratorOptions;
import io.github.iree4j.generation.sampling.LogProbabilities;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.ai.observation.conventions.AiOperationType;
import org.springframework.core.io.Resource;

/**
 * A generator on a program of the application, created at the first use and closed when the program is unloaded.
 *
 * <p>Calls of a replaced program go to its successor, but the cache belongs to the replaced one. So a program in use
 * cannot be replaced by another of the same version, and must be unloaded before. Another program found later, of a
 * higher version or loaded again, gets a new generator, and the former generator is closed after the last request.
 */
final class GeneratorSource implements TokenSource {
    private static final Logger log = LoggerFactory.getLogger(GeneratorSource.class);

    private static final int LARGEST_CONFIG = 1 << 20;

    private final Programs programs;
    private final String module;
    private final ChatSettings settings;
    private final Creator creator;
    private final ReentrantLock lock = new ReentrantLock(); // also taken by the threads of generators, never held long
    private final List<GenerationListener> listeners = new CopyOnWriteArrayList<>();
    private final Set<Running> open = new HashSet<>(); // guarded by lock
    private volatile @Nullable Running running; // written under the lock
    private @Nullable Creation creation; // guarded by lock; one at a time
    private boolean closed; // guarded by lock

    /** Creates generators. */
    @FunctionalInterface
    interface Creator {
        Generator create(Program program, GeneratorOptions options);
    }

    /** A generator, with its requests. */
    private static final class Running {
        private final LoadedProgram program;
        private final Generator generator;
        private int requests; // guarded by the lock of the source

        Running(LoadedProgram program, Generator generator) {
            this.program = program;
            this.generator = generator;
        }
    }

    /** A generator being created on a dedicated thread: any waiting request may leave, including the first. */
    private record Creation(LoadedProgram program, CompletableFuture<@Nullable Void> end) {}

    /**
     * Creates a source.
     *
     * @param programs has the program
     * @param settings name the program, the configuration and the limits
     */
    GeneratorSource(Programs programs, ChatSettings settings) {
        this(programs, settings, Generator::create);
    }

    GeneratorSource(Programs programs, ChatSettings settings, Creator creator) {
        this.creator = creator;
        this.programs = programs;
        this.module = settings.module();
        this.settings = settings;
        programs.addCheck(this::checkReplacement);
        programs.addListener(status -> {
            if (status.state() == ProgramState.UNLOADED
                    && status.source().name().equals(module)) {
                onOtherThread("iree4j-generator-release", this::releaseUnloaded); // this thread may hold the program
            }
        });
    }

    private void checkReplacement(LoadedProgram fresh) {
        LoadedProgram used;
        LoadedProgram next;
        lock.lock();
        try {
            used = running == null ? null : running.program;
            next = creation == null ? null : creation.program;
        } finally {
            lock.unlock();
        }
        if (isReplaced(used, fresh) || isReplaced(next, fresh)) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "program '%s' generates text, and the cached keys and values of its conversations fit no other program; unload it before, or load another version"
                            .formatted(module));
        }
    }

    private boolean isReplaced(@Nullable LoadedProgram used, LoadedProgram fresh) {
        return used != null
                && used != fresh
                && fresh.source().name().equals(module)
                && fresh.source().version().equals(used.source().version())
                && programs.find(module, fresh.source().version()).orElse(null) == used;
    }

    @Override
    public void check(int size) {
        if (programs.find(module).isPresent()) {
            int vocabulary = with(running -> running.generator.vocabulary());
            if (vocabulary > 0 && size > vocabulary) {
                throw IreeException.of(
                        StatusCode.FAILED_PRECONDITION,
                        "the tokenizer has tokens up to %d, but the program has %d tokens; use the tokenizer.json of the model"
                                .formatted(size - 1, vocabulary));
            }
        }
    }

    @Override
    public void load(@Nullable Deadline deadline) {
        with(running -> running, deadline);
    }

    @Override
    public int maximumTokens() {
        return with(running -> running.generator.maximumTokens());
    }

    @Override
    public Tokens submit(GenerationRequest request, AiOperationType operation) {
        return with(running -> {
            Generation generation = running.generator.submit(request);
            long submitted = System.nanoTime();
            running.requests++;
            generation.result().whenComplete((_, failure) -> {
                end(running);
                Duration duration = Duration.ofNanos(System.nanoTime() - submitted);
                listeners.forEach(each -> each.ended(generation, operation, duration, failure));
            });
            return new GeneratedTokens(generation);
        });
    }

    @Override
    public Optional<Generator> generator() {
        return Optional.ofNullable(running).map(each -> each.generator);
    }

    @Override
    public void listen(GenerationListener listener) {
        listeners.add(listener);
    }

    private interface Use<T> {
        T with(Running running);
    }

    private <T> T with(Use<T> use) {
        return with(use, null);
    }

    private <T> T with(Use<T> use, @Nullable Deadline deadline) {
        while (true) {
            LoadedProgram program;
            try {
                program = programs.require(module, null, deadline); // waits for a load outside of the lock
            } catch (RuntimeException e) {
                releaseUnloaded();
                lock.lock();
                try {
                    requireOpen(); // programs are gone once the application has stopped
                } finally {
                    lock.unlock();
                }
                throw e;
            }
            lock.lock();
            try {
                requireOpen();
                Running now = running;
                if (now != null && now.program == program) {
                    return use.with(now);
                }
            } finally {
                lock.unlock();
            }
            prepare(program, deadline);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE, "'%s' is closed: the application is stopping".formatted(module));
        }
    }

    /**
     * Makes a program the program in use, unless it is already, or is no longer the latest. Waits for the creation of
     * another; after the failure of a creation that another request began, the caller tries again.
     */
    private void prepare(LoadedProgram program, @Nullable Deadline deadline) {
        Creation awaited;
        boolean begins;
        lock.lock();
        try {
            requireOpen();
            if (running != null && running.program == program) {
                return;
            }
            Creation current = creation;
            begins = current == null;
            awaited = current == null ? new Creation(program, new CompletableFuture<>()) : current;
            creation = awaited;
        } finally {
            lock.unlock();
        }
        if (begins) {
            begin(awaited);
        }
        try {
            await(awaited, deadline);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IreeException.of(
                    StatusCode.CANCELLED, "interrupted while waiting for the generator of '%s'".formatted(module), e);
        } catch (ExecutionException e) {
            if (begins) {
                throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e);
            }
        }
    }

    private void await(Creation creation, @Nullable Deadline deadline) throws InterruptedException, ExecutionException {
        if (deadline == null) {
            creation.end.get();
            return;
        }
        try {
            creation.end.get(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw IreeException.of(
                    StatusCode.DEADLINE_EXCEEDED,
                    "the generator of '%s' was not created within %s; its creation continues, try again later"
                            .formatted(module, DurationText.of(deadline.timeout())),
                    e);
        }
    }

    private void begin(Creation next) {
        Thread.Builder thread = Thread.ofPlatform().daemon().name("iree4j-generator-create");
        try {
            thread.start(() -> run(next));
        } catch (Error e) { // no thread
            over(null);
            next.end.completeExceptionally(e);
        }
    }

    private void run(Creation next) {
        try {
            install(next.program);
            releaseUnloaded(); // an unload during the creation
            next.end.complete(null);
        } catch (Throwable e) {
            next.end.completeExceptionally(e);
        }
    }

    /**
     * Gives up the generator of a program that was unloaded: its cache may leave no memory for the next. Waits for
     * other threads that close unused generators.
     */
    private void releaseUnloaded() {
        Running former = running;
        if (former != null
                && programs.find(module, former.program.source().version()).orElse(null) != former.program) {
            lock.lock();
            try {
                running = running == former ? null : running;
            } finally {
                lock.unlock();
            }
        }
        closeUnused();
    }

    private void install(LoadedProgram program) {
        Running made = null;
        boolean installed;
        try {
            releaseUnloaded();
            if (programs.find(module).orElse(null) == program) { // else unloaded or succeeded meanwhile
                made = new Running(program, create(program));
            }
        } finally {
            installed = over(made);
        }
        if (made != null && !installed) {
            made.generator.close();
        }
        closeUnused();
    }

    /** Ends the creation of a generator, null for none; false when there is none, or this source is closed. */
    private boolean over(@Nullable Running made) {
        lock.lock();
        try {
            creation = null;
            if (made == null || closed) {
                return false;
            }
            running = made;
            open.add(made);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Called by the generator's thread or the canceller's. */
    private void end(Running of) {
        boolean isUnused;
        lock.lock();
        try {
            of.requests--;
            isUnused = isUnused(of);
        } finally {
            lock.unlock();
        }
        if (isUnused) {
            onOtherThread("iree4j-generator-close", this::closeUnused); // waits for the generator's thread
        }
    }

    /** Closes the generators that have no requests and get no more. Each is listed until closed, so that others wait, too. */
    private void closeUnused() {
        List<Running> unused;
        lock.lock();
        try {
            unused = open.stream().filter(this::isUnused).toList();
        } finally {
            lock.unlock();
        }
        for (Running each : unused) {
            each.generator.close();
            lock.lock();
            try {
                open.remove(each);
            } finally {
                lock.unlock();
            }
        }
    }

    /** Under the lock. */
    private boolean isUnused(Running each) {
        return each != running && each.requests == 0;
    }

    private static void onOtherThread(String name, Runnable task) {
        Thread.ofVirtual().name(name).start(task);
    }

    private Generator create(LoadedProgram program) {
        GeneratorOptions.Builder options = GeneratorOptions.builder()
                .pages(settings.pages())
                .requestsPerTenant(settings.requestsPerTenant())
                .proposedTokens(settings.proposedTokens())
                .hostPages(settings.hostPages())
                .probePrompts(settings.probePrompts())
                .stepsAhead(settings.stepsAhead());
        Resource config = settings.config();
        if (config != null) {
            options.config(config.getDescription(), text(config));
        }
        String draft = settings.draft();
        if (draft != null) {
            options.draft(draft(draft));
        }
        Resource draftConfig = settings.draftConfig();
        if (draftConfig != null) {
            options.draftConfig(draftConfig.getDescription(), text(draftConfig));
        }
        log.info(
                "program '{}' begins to generate text: measures which functions and shapes compute equal bits", module);
        long begin = System.nanoTime();
        Generator created = creator.create(program.program(), options.build());
        log.info(
                "program '{}' generates text: the measurement took {}, with iree.ai.chat.probe-prompts of {}",
                module,
                DurationText.rounded(Duration.ofNanos(System.nanoTime() - begin)),
                settings.probePrompts());
        return created;
    }

    private Program draft(String name) {
        try {
            return programs.require(name, null).program();
        } catch (IreeException e) {
            throw e.during(
                    "correct iree.ai.chat.draft.module, or remove the property: then tokens are proposed from earlier text");
        }
    }

    private static String text(Resource config) {
        return new String(ModelFile.read(config, "config.json", LARGEST_CONFIG), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        List<Running> all;
        Creation last;
        lock.lock();
        try {
            closed = true;
            last = creation;
            all = List.copyOf(open);
            open.clear();
        } finally {
            lock.unlock();
        }
        all.forEach(each -> each.generator.close());
        if (last != null) {
            last.end.handle((_, _) -> null).join(); // the creator closes its generator
        }
    }

    private record GeneratedTokens(Generation generation) implements Tokens {
        @Override
        public boolean await(Duration limit) throws InterruptedException {
            return generation.await(limit);
        }

        @Override
        public OptionalInt next() throws InterruptedException {
            return generation.next();
        }

        @Override
        public FinishReason reason() {
            return generation.result().join().reason();
        }

        @Override
        public int sharedTokens() {
            return generation.sharedTokens();
        }

        @Override
        public LogProbabilities logProbabilities(int index) {
            return generation.logProbabilities(index);
        }

        @Override
        public void cancel() {
            generation.cancel();
        }
    }
}
