package io.github.iree4j;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.monitor.LeakReport;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.tensor.TensorElements;
import java.lang.ref.Cleaner;
import java.security.CodeSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks the unclosed objects of a runtime, and finds objects dropped without being closed. Each such object is
 * reported once and counted. The object's memory is not reclaimed, because the collector is not a substitute for
 * {@code close()}.
 */
final class Leaks {
    private static final Logger LOG = LoggerFactory.getLogger(Leaks.class);
    private static final Cleaner CLEANER = Cleaner.create();
    /** Counts over all runtimes of this process, since a dropped runtime can no longer be queried. */
    private static final LongAdder FORGOTTEN_IN_PROCESS = new LongAdder();

    /** Further sites are only counted. */
    private static final int MOST_SITES = 256;

    private final boolean trace;
    private final LongAdder forgottenTensors = new LongAdder();
    private final LongAdder openTensors = new LongAdder();
    /** Forgotten tensors by site: each site is logged at the first tensor. */
    private final Map<Site, LongAdder> sites = new ConcurrentHashMap<>();

    /** Open objects, with the place of their creation; empty unless these places are recorded. */
    private final Set<Watch> open = ConcurrentHashMap.newKeySet();

    private final AtomicLong nextId = new AtomicLong();

    /**
     * Creates the watch of a runtime.
     *
     * @param trace whether to record where each object was created; costs a stack walk per result
     */
    Leaks(boolean trace) {
        this.trace = trace;
    }

    private record Site(String program, String place) {}

    /** Watches a tensor with these elements in device memory until the tensor is closed. */
    Watch watch(Tensor tensor, TensorElements elements) {
        openTensors.increment();
        return watch(tensor, new Result(this, elements));
    }

    /** Forgotten tensors by program and place of creation, most first. */
    List<LeakReport.Site> sites() {
        return sites.entrySet().stream()
                .map(each -> new LeakReport.Site(
                        each.getKey().program,
                        each.getKey().place,
                        each.getValue().sum()))
                .sorted(Comparator.comparingLong(LeakReport.Site::count).reversed())
                .toList();
    }

    /** Counts a forgotten tensor; true for the first tensor of the site. */
    private boolean isFirst(Site site) {
        if (sites.size() >= MOST_SITES && !sites.containsKey(site)) {
            return false;
        }
        LongAdder own = new LongAdder();
        LongAdder known = sites.putIfAbsent(site, own);
        (known == null ? own : known).increment();
        return known == null;
    }

    /** Watches a program until the program is closed. A program can be dropped only with its runtime. */
    Watch watch(Program program, String what) {
        return watch(program, new Named(this, "program " + what));
    }

    /** Watches the runtime itself until the runtime is closed. The runtime does not count as open. */
    Watch watch(IreeRuntime runtime, String what) {
        return register(runtime, new Named(this, "runtime " + what));
    }

    private Watch watch(Object watched, Watch watch) {
        if (trace) {
            open.add(watch);
        }
        return register(watched, watch);
    }

    private static Watch register(Object watched, Watch watch) {
        watch.cleanable = CLEANER.register(watched, watch);
        return watch;
    }

    long forgotten() {
        return forgottenTensors.sum();
    }

    static long forgottenInProcess() {
        return FORGOTTEN_IN_PROCESS.sum();
    }

    long openTensors() {
        return openTensors.sum();
    }

    /** Open objects except the runtime itself, in order of creation; empty unless places of creation are recorded. */
    List<LeakReport.Open> open() {
        record Traced(Watch watch, CreationSite site) {}
        return open.stream()
                .map(watch -> new Traced(watch, Objects.requireNonNull(watch.site)))
                .sorted(Comparator.comparingLong(each -> each.site.id))
                .map(each -> new LeakReport.Open(each.site.id, each.watch.what(), each.site))
                .toList();
    }

    /** Knows only the description of the watched object, and must not keep the object reachable. */
    abstract static class Watch implements Runnable {
        final Leaks leaks;
        private final @Nullable CreationSite site;
        private Cleaner.@Nullable Cleanable cleanable;
        private boolean closed; // read only by the writing thread: the collector does not report closed objects

        Watch(Leaks leaks) {
            this.leaks = leaks;
            this.site = leaks.trace ? new CreationSite(leaks.nextId.incrementAndGet()) : null;
        }

        /** Describes the object; not called for closed objects. */
        abstract String what();

        /** Records that the object was closed. Called once, while the object is reachable. */
        void closed() {
            closed = true;
            if (site != null) {
                leaks.open.remove(this);
            }
            Cleaner.Cleanable registered = cleanable;
            if (registered != null) {
                registered.clean();
            }
        }

        /** Records that the object was dropped. */
        void forgotten() {
            FORGOTTEN_IN_PROCESS.increment();
            report("");
        }

        final @Nullable CreationSite creation() {
            return site;
        }

        final void report(String others) {
            if (site != null) {
                LOG.warn("{} was never closed{}; its memory is lost. It was created here", what(), others, site);
            } else {
                LOG.warn(
                        "{} was never closed{}; its memory is lost. Set IreeRuntime.builder().traceLeaks(true), or with Spring iree.leaks.trace=true, to see where it was created",
                        what(),
                        others);
            }
        }

        @Override
        public final void run() {
            if (!closed) {
                forgotten();
            }
        }
    }

    private static final class Named extends Watch {
        private final String what;

        Named(Leaks leaks, String what) {
            super(leaks);
            this.what = what;
        }

        @Override
        String what() {
            return what;
        }
    }

    /**
     * Created for each result of each call; the description is therefore built on demand. Does not refer to the
     * elements: their memory refers to the call.
     */
    private static final class Result extends Watch {
        private final Shape shape;
        private final ElementType type;
        private final String program; // charged for the tensor; empty for none

        Result(Leaks leaks, TensorElements elements) {
            super(leaks);
            DeviceMemory memory = elements.memory();
            this.shape = elements.shape();
            this.type = elements.type();
            this.program = memory == null ? "" : memory.consumer();
        }

        @Override
        String what() {
            return "result " + shape.format(type) + (program.isEmpty() ? "" : " of program '" + program + "'");
        }

        @Override
        void closed() {
            leaks.openTensors.decrement();
            super.closed();
        }

        @Override
        void forgotten() {
            CreationSite created = creation();
            boolean isFirst = leaks.isFirst(new Site(program, created == null ? "" : created.place()));
            leaks.forgottenTensors.increment(); // afterwards: whoever reads the total finds the places
            FORGOTTEN_IN_PROCESS.increment();
            if (isFirst) {
                report(", like others from the same place, which are only counted");
            }
        }
    }

    /** A stack trace, not a failure. */
    private static final class CreationSite extends Throwable {
        private static final long serialVersionUID = 1L;

        private final long id; // in order of creation
        private final String place = callerOutside();

        CreationSite(long id) {
            super("creation site");
            this.id = id;
        }

        /** The method of the application that created the object; empty when the stack has no such method. */
        String place() {
            return place;
        }

        private static String callerOutside() {
            CodeSource own = Leaks.class.getProtectionDomain().getCodeSource();
            return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                    .walk(frames -> frames.filter(frame -> {
                                Class<?> type = frame.getDeclaringClass();
                                return !Objects.equals(
                                                type.getProtectionDomain().getCodeSource(), own)
                                        && !type.getName().startsWith("io.github.iree4j.spring.");
                            })
                            .findFirst())
                    .map(frame -> frame.toStackTraceElement().toString())
                    .orElse("");
        }
    }
}
