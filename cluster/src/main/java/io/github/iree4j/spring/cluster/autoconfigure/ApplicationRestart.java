package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringApplicationRunListener;
import org.springframework.boot.SpringBootExceptionReporter;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Restarts the application of a fenced node in the same JVM: closes the context, and runs the {@link SpringApplication}
 * again with the same arguments. Only a new context has new timelines: the old session is in the names of all timelines
 * of the old devices.
 *
 * <p>Spring Boot creates an instance for each run; the instance is a singleton of the context of the run, and restarts
 * this context at most once. Thread-safe.
 */
final class ApplicationRestart implements SpringApplicationRunListener {

    /** After failing for so long the process counts as broken, and ends, visibly for the supervisor of the process. */
    private static final Duration LIMIT = Duration.ofHours(1);

    /** After serving for so long a new session was worth taking; the next restart begins without a pause. */
    static final Duration SERVED = Duration.ofMinutes(10);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    /** The 255 sessions of a machine index are for the life of the cluster, so sessions are not taken in quick succession. */
    private static final Duration LONGEST_PAUSE_BETWEEN_SESSIONS = Duration.ofSeconds(30);

    private static final String BEAN = "ireeApplicationRestart";

    /** The restart running the application on this thread. */
    private static final ScopedValue<ApplicationRestart> CURRENT = ScopedValue.newInstance();

    private static final Logger log = LoggerFactory.getLogger(ApplicationRestart.class);

    private enum Stage {
        STARTING,
        STARTED,
        RESTARTING,
        /** Closed by the application, or failed to start. */
        ENDED
    }

    /** Waits between two runs. */
    @FunctionalInterface
    interface Pause {
        void await(Duration duration) throws InterruptedException;
    }

    private final SpringApplication application;
    private final String[] arguments;
    private final LongSupplier nanoTime;
    private final Pause pause;
    private final IntConsumer exit;
    private final long runner = Thread.currentThread().threadId(); // the thread would keep all earlier contexts
    private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader();

    private Stage stage = Stage.STARTING; // guarded by this, like the rest
    private @Nullable ConfigurableApplicationContext context; // null before the preparation, and from the restart on
    private @Nullable ApplicationRestart predecessor; // repeats this run; null for the first run, and after the run
    private long closing; // the id of the thread closing the context for a restart; 0 for none
    private boolean failed; // Spring Boot closes the context
    private boolean hasChildren;
    private boolean superseded; // the context made by this restart was fenced, or closed by the application
    private int sessions; // taken since an incarnation has served long enough
    private long started;
    private BooleanSupplier fenced = () -> false;
    private Duration patience = Duration.ZERO;

    /** For Spring. */
    public ApplicationRestart(SpringApplication application, String[] arguments) {
        this(application, arguments, System::nanoTime, Thread::sleep, System::exit);
    }

    /**
     * Creates the restart of a run beginning on this thread.
     *
     * @param nanoTime the clock, never going back
     * @param pause waits between two runs
     * @param exit ends the process
     */
    ApplicationRestart(
            SpringApplication application, String[] arguments, LongSupplier nanoTime, Pause pause, IntConsumer exit) {
        this.application = application;
        this.arguments = arguments;
        this.nanoTime = nanoTime;
        this.pause = pause;
        this.exit = exit;
        ApplicationRestart current = CURRENT.isBound() ? CURRENT.get() : null;
        if (current != null && current.application.equals(application)) { // a bean may run other applications
            this.predecessor = current;
            this.sessions = current.sessions();
        }
    }

    /**
     * Finds the restart of a context.
     *
     * @return the restart; null for a context not made by a {@link SpringApplication}
     */
    static @Nullable ApplicationRestart of(ApplicationContext context) {
        return context instanceof ConfigurableApplicationContext known
                        && known.getBeanFactory().getSingleton(BEAN) instanceof ApplicationRestart restart
                ? restart
                : null;
    }

    @Override
    public void contextPrepared(ConfigurableApplicationContext prepared) {
        synchronized (this) {
            context = prepared;
        }
        prepared.getBeanFactory().registerSingleton(BEAN, this);
        prepared.addApplicationListener((ApplicationListener<ContextClosedEvent>) event -> {
            if (event.getApplicationContext().equals(prepared)) { // events of children come here, too
                closed();
            }
        });
        ApplicationContext parent = prepared.getParent();
        ApplicationRestart ofParent = parent == null ? null : of(parent);
        if (ofParent != null) {
            ofParent.addChild();
        }
    }

    private synchronized void addChild() {
        hasChildren = true;
    }

    private synchronized void closed() {
        long current = Thread.currentThread().threadId();
        if (stage != Stage.ENDED && !failed && current != closing) {
            stage = Stage.ENDED;
            if (current != runner) { // on that thread Spring Boot closes the context of a failed run
                supersede();
            }
        }
    }

    /** Counts a session taken by this run. */
    synchronized void leased() {
        sessions++;
        if (predecessor != null) {
            predecessor.leased();
        }
    }

    private synchronized int sessions() {
        return sessions;
    }

    /** From here on the application can restart: runners come later, and may block as long as the application runs. */
    @Override
    public synchronized void started(ConfigurableApplicationContext of, @Nullable Duration timeTaken) {
        started = nanoTime.getAsLong();
        if (predecessor != null) {
            log.info("the application has started again");
        }
        if (stage == Stage.STARTING) {
            stage = Stage.STARTED;
            if (isDue()) {
                begin();
            }
        }
    }

    @Override
    public synchronized void ready(ConfigurableApplicationContext of, @Nullable Duration timeTaken) {
        predecessor = null;
    }

    @Override
    public synchronized void failed(@Nullable ConfigurableApplicationContext of, Throwable failure) {
        failed = true;
        if (stage == Stage.STARTING) {
            started = nanoTime.getAsLong();
        }
        if (stage == Stage.STARTING || stage == Stage.STARTED) {
            if (isDue()) {
                begin(); // a failure of the fencing
            } else {
                stage = Stage.ENDED; // a predecessor repeats the run
            }
        }
    }

    /** Asks the node, since a start may fail before listeners hear of the fencing. */
    private synchronized boolean isDue() {
        return fenced.getAsBoolean() && obstacle() == null;
    }

    /**
     * Returns the reason against a restart: somebody else manages the context.
     *
     * @return the reason; null for none
     */
    synchronized @Nullable String obstacle() {
        if (context == null) {
            return null; // restarting already
        }
        if (context.getParent() != null) {
            return "its context has a parent";
        }
        if (hasChildren) {
            return "its context is the parent of another application";
        }
        if (context.getEnvironment().getPropertySources().contains("Inlined Test Properties")) {
            return "a test runs it";
        }
        if (application.getInitializers().stream()
                .anyMatch(each ->
                        each.getClass().getSimpleName().equals("ServletContextApplicationContextInitializer"))) {
            return "a servlet container runs it";
        }
        if (loader != null && loader.getClass().getName().startsWith("org.springframework.boot.devtools.")) {
            return "DevTools restarts it";
        }
        return null;
    }

    /**
     * Adds the knowledge of the node.
     *
     * @param fenced whether the node is fenced
     * @param patience the longest time for closing; afterwards the application counts as broken
     */
    synchronized void watch(BooleanSupplier fenced, Duration patience) {
        this.fenced = fenced;
        this.patience = patience;
    }

    /**
     * Restarts the application of a fenced node, after the start if the application is starting. Does nothing if the
     * context is closing already. Does not block.
     */
    synchronized void restart() {
        if (stage == Stage.STARTED) {
            begin();
        }
    }

    private synchronized void begin() {
        stage = Stage.RESTARTING;
        supersede();
        if (nanoTime.getAsLong() - started >= SERVED.toNanos()) {
            sessions = 0;
        }
        thread("iree-cluster-restart", this::run).start();
    }

    private synchronized void supersede() {
        if (predecessor != null) {
            predecessor.end();
            predecessor = null;
        }
    }

    private synchronized void end() {
        superseded = true;
    }

    private synchronized boolean isOver() {
        return superseded || stage == Stage.ENDED;
    }

    /** A thread keeping the JVM alive, with nothing of the old context. */
    private Thread thread(String name, Runnable work) {
        Thread thread = Thread.ofPlatform()
                .name(name)
                .daemon(false)
                .inheritInheritableThreadLocals(false)
                .unstarted(work);
        thread.setContextClassLoader(loader);
        return thread;
    }

    private void run() {
        try {
            close();
            if (!isOver()) {
                repeat();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void close() throws InterruptedException {
        ConfigurableApplicationContext old;
        Thread thread;
        Duration limit;
        synchronized (this) {
            old = context;
            if (old == null) {
                return; // the start failed before the context existed
            }
            context = null;
            fenced = () -> false; // this thread may run the application for long, and the old node is garbage
            limit = patience;
            thread = thread("iree-cluster-shutdown", old::close);
            closing = thread.threadId();
        }
        log.info("the application closes, to start again with a new session");
        thread.start();
        if (!thread.join(limit)) {
            log.error("the application has not closed within {}, and counts as broken", DurationText.of(limit));
            try {
                AvailabilityChangeEvent.publish(old, LivenessState.BROKEN);
            } catch (RuntimeException e) {
                log.debug("nobody asks for the liveness any more", e); // the context is nearly closed
            }
            thread.join();
        }
    }

    /** Runs the application until a run succeeds. A running application belongs to the restart of the new context. */
    private void repeat() throws InterruptedException {
        application.setBannerMode(Banner.Mode.OFF);
        long began = nanoTime.getAsLong();
        for (int failures = 0; ; failures++) {
            pause.await(pause(failures));
            if (isShuttingDown()) {
                return;
            }
            try {
                ScopedValue.where(CURRENT, this).run(() -> application.run(arguments));
                return;
            } catch (RuntimeException | Error e) {
                if (isOver() || isShuttingDown()) {
                    return;
                }
                log.debug("the application does not start again", e);
                if (nanoTime.getAsLong() - began >= LIMIT.toNanos()) {
                    log.error("the application has not started again, and ends after {}", DurationText.of(LIMIT), e);
                    exit.accept(1);
                    return;
                }
                log.warn(
                        "the application does not start again, next attempt in {}: {}",
                        DurationText.of(pause(failures + 1)),
                        cause(e));
            }
        }
    }

    private synchronized Duration pause(int failures) {
        Duration ofFailures = pause(failures, LONGEST_PAUSE);
        Duration ofSessions = pause(sessions - 1, LONGEST_PAUSE_BETWEEN_SESSIONS);
        return ofFailures.compareTo(ofSessions) < 0 ? ofSessions : ofFailures;
    }

    /** 0, 1, 2, 4, ... seconds. */
    private static Duration pause(int before, Duration longest) {
        Duration doubled = before <= 0 ? Duration.ZERO : Duration.ofSeconds(1L << Math.min(before - 1, 10));
        return doubled.compareTo(longest) < 0 ? doubled : longest;
    }

    /** The message of the innermost cause: the JDK below often leaves out the port or the host. */
    private static String cause(Throwable failure) {
        Throwable told = failure;
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (!each.getClass().getName().startsWith("java.")) {
                told = each;
            }
        }
        return told.toString().replaceAll("\\s*\\R\\s*", " ");
    }

    /** The JVM takes shutdown hooks until the shutdown begins. */
    private static boolean isShuttingDown() {
        Thread hook = new Thread(() -> {});
        try {
            Runtime.getRuntime().addShutdownHook(hook);
            Runtime.getRuntime().removeShutdownHook(hook);
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    /** Keeps Spring Boot from logging the failures of repeated runs with stack traces. */
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static final class Reporter implements SpringBootExceptionReporter {

        /** For Spring. */
        Reporter() {}

        @Override
        public boolean reportException(Throwable failure) {
            return CURRENT.isBound();
        }
    }
}
