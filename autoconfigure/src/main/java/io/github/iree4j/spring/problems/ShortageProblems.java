package io.github.iree4j.spring.problems;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.pool.PoolStatistics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Reports failed requests for memory held by others, from the first failure until there was none for the watchdog's
 * patience. Such requests wait too briefly to be found waiting, or cannot wait. Requests that could never fit do not
 * count: their callers ask for too much.
 */
@NotForApplications
public final class ShortageProblems implements ProblemSource {

    private final IreeRuntime runtime;
    private final LongSupplier clock;
    private final Map<String, Shortage> shortages = new HashMap<>(); // by device; guarded by this

    /**
     * Creates a source.
     *
     * @param runtime the runtime
     */
    public ShortageProblems(IreeRuntime runtime) {
        this(runtime, System::nanoTime);
    }

    ShortageProblems(IreeRuntime runtime, LongSupplier clock) {
        this.runtime = runtime;
        this.clock = clock;
    }

    /** The failures of a device. */
    private static final class Shortage {
        private long seen; // failures of the device at the latest look
        private long before; // failures before the first reported failure
        private boolean lasts;
        private long first; // time of the first reported failure
        private long last;
        private List<PoolStatistics> pools; // at the latest look
        private String awaited = "";
        private String held = "";
        private long openTensors;

        Shortage(long seen, List<PoolStatistics> pools) {
            this.seen = seen;
            this.pools = pools;
        }
    }

    @Override
    public synchronized List<Problem> find(Duration patience) {
        List<Problem> problems = new ArrayList<>();
        long now = clock.getAsLong();
        for (Device device : runtime.devices()) {
            String name = runtime.monitor().devices().nameOf(device);
            PoolSetStatistics pools = device.allocator().poolStatistics();
            long failed =
                    pools.pools().stream().mapToLong(PoolStatistics::shortages).sum();
            Shortage shortage = shortages.computeIfAbsent(name, _ -> new Shortage(failed, pools.pools()));
            look(shortage, failed, pools, now, patience);
            if (shortage.lasts) {
                problems.add(new MemoryShortage(
                        "device '" + name + "'",
                        shortage.seen - shortage.before,
                        shortage.awaited,
                        shortage.held,
                        shortage.openTensors,
                        Duration.ofNanos(now - shortage.last),
                        Duration.ofNanos(now - shortage.first)));
            }
        }
        return problems;
    }

    private void look(Shortage shortage, long failed, PoolSetStatistics pools, long now, Duration patience) {
        if (failed > shortage.seen) {
            if (!shortage.lasts) {
                shortage.lasts = true;
                shortage.before = shortage.seen;
                shortage.first = now;
            }
            shortage.seen = failed;
            shortage.last = now;
            for (int i = 0; i < shortage.pools.size(); i++) {
                PoolStatistics pool = pools.pools().get(i);
                if (pool.shortages() > shortage.pools.get(i).shortages()) {
                    shortage.awaited = DeviceMemoryText.awaited(pool.shortBytes(), List.of(pool.name()));
                }
            }
            shortage.held = DeviceMemoryText.held(pools);
            shortage.openTensors = runtime.monitor().openTensors();
        } else if (shortage.lasts && now - shortage.last > patience.toNanos()) {
            shortage.lasts = false;
        }
        shortage.pools = pools.pools();
    }
}
