package io.github.iree4j.spring.health;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.problems.Problem;
import io.github.iree4j.spring.problems.Watchdog;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * Health of the runtime: {@code devices}, {@code modules} and {@code pools}, each with the current members, and
 * {@code progress}.
 *
 * <p>A lost device is up but degraded while another device of the runtime works, and down otherwise. A program is down
 * when loading has failed, a file used in place was changed, or none of the program's devices works; out of service
 * during loading; and up but degraded when a reload has failed. A program to be loaded at the first call is up. A
 * device of another machine is unknown until a program has opened the device. Pools are up and report usage. Progress
 * is down while calls are in flight, nothing advances and no program is known to serve new calls, and up but degraded
 * while there are other problems. Never waits for work on a device.
 */
public final class IreeHealthContributor implements CompositeHealthContributor {

    /** Fraction of a budget in use above which a pool is degraded. */
    private static final double NEARLY_FULL = 0.9;

    private final IreeRuntime runtime;
    private final Programs programs;
    private final Supplier<@Nullable Watchdog> watchdog;

    /**
     * Creates a contributor for a runtime.
     *
     * @param runtime the runtime whose devices to report
     * @param programs the programs to report
     * @param watchdog knows the problems; null when there is none
     */
    public IreeHealthContributor(IreeRuntime runtime, Programs programs, Supplier<@Nullable Watchdog> watchdog) {
        this.runtime = runtime;
        this.programs = programs;
        this.watchdog = watchdog;
    }

    @Override
    public @Nullable HealthContributor getContributor(String name) {
        return switch (name) {
            case "devices" -> devices();
            case "modules" -> modules();
            case "pools" -> pools();
            case "progress" -> progress();
            default -> null;
        };
    }

    @Override
    public Stream<Entry> stream() {
        return Stream.of(
                new Entry("devices", devices()),
                new Entry("modules", modules()),
                new Entry("pools", pools()),
                new Entry("progress", progress()));
    }

    private Group devices() {
        return group(() -> runtime.monitor().devices().names(), name -> open(name, this::device));
    }

    private Group modules() {
        return group(
                () -> programs.statuses().stream()
                        .map(status -> status.source().name())
                        .distinct()
                        .toList(),
                this::module);
    }

    private Group pools() {
        return group(() -> runtime.monitor().devices().names(), name -> open(name, this::pool));
    }

    /** Returns the health of an open device; unknown for a device of another machine before a program has opened the device. */
    private Health open(String name, Function<Device, Health> health) {
        return runtime.monitor()
                .devices()
                .find(name)
                .map(health)
                .orElseGet(
                        () -> Health.unknown().withDetail("state", "not open").build());
    }

    /** Returns an indicator of whether work advances, with the problems keeping work from advancing. */
    private HealthIndicator progress() {
        return () -> {
            Watchdog dog = watchdog.get();
            if (dog == null) {
                return Health.unknown().build();
            }
            List<Problem> problems = dog.problems();
            Health.Builder health = dog.isStalled() ? Health.down() : Health.up();
            if (dog.isStalled()) {
                health.withDetail(
                        "reason", "calls are in flight, nothing advances, and no program is known to serve new ones");
            } else if (!problems.isEmpty()) {
                health.withDetail("degraded", true);
            }
            for (Problem each : problems) {
                health.withDetail(
                        each.kind() + " of " + each.subject(),
                        Map.of("summary", each.summary(), "remedy", each.remedy(), "chain", each.chain()));
            }
            return health.build();
        };
    }

    private Health device(Device device) {
        Optional<IreeException> failure = device.failure();
        Health.Builder health = failure.isEmpty()
                ? Health.up()
                : anyWorks(runtime.devices()) ? Health.up().withDetail("degraded", true) : Health.down();
        failure.ifPresent(cause -> health.withDetail("reason", cause.toString()));
        return health.withDetail("driver", device.info().driver())
                .withDetail("name", device.info().name())
                .build();
    }

    private Health module(String name) {
        List<ProgramStatus> versions = programs.versions(name);
        Optional<LoadedProgram> loaded = programs.find(name);
        if (loaded.isPresent()) {
            return loaded(loaded.get(), versions);
        }
        if (versions.isEmpty()) {
            return Health.unknown().build();
        }
        ProgramStatus latest = versions.getFirst();
        Health.Builder health = switch (latest.state()) {
            case FAILED -> Health.down();
            case LOADING, WARMING_UP -> Health.outOfService();
            default -> Health.up();
        };
        health.withDetail("state", latest.state())
                .withDetail("location", latest.source().location());
        if (!latest.step().isEmpty()) {
            health.withDetail("step", latest.step()).withDetail("progress", latest.progress());
        }
        if (latest.failure() != null) {
            health.withDetail("reason", String.valueOf(latest.failure().getMessage()));
        }
        return health.build();
    }

    private Health loaded(LoadedProgram loaded, List<ProgramStatus> versions) {
        List<Device> devices = loaded.instances().stream()
                .flatMap(instance -> instance.devices().stream())
                .distinct()
                .toList();
        boolean closed = loaded.instances().stream().anyMatch(instance -> instance.isClosed());
        boolean works = loaded.instances().stream().anyMatch(instance -> allWork(instance.devices()));
        Optional<IreeException> failure = loaded.failure();
        Health.Builder health = closed || failure.isPresent() || !works ? Health.down() : Health.up();
        if (closed) {
            health.withDetail("reason", "program is closed");
        } else if (failure.isPresent()) {
            health.withDetail("reason", String.valueOf(failure.get().getMessage()));
        } else if (!anyWorks(devices)) {
            health.withDetail("reason", "none of its devices works");
        } else if (!works) {
            health.withDetail("reason", "it needs devices that are lost").withDetail("lostDevices", lost(devices));
        } else if (!allWork(devices)) {
            health.withDetail("degraded", true).withDetail("lostDevices", lost(devices));
        }
        versions.stream()
                .filter(each -> each.source().version().equals(loaded.source().version())
                        && !each.changes().isEmpty())
                .findFirst()
                .ifPresent(each -> health.withDetail("changed", each.changes()));
        for (ProgramStatus each : versions) {
            if (each.failure() != null) {
                health.withDetail("degraded", true)
                        .withDetail(
                                "loadingFailed",
                                "version %s: %s"
                                        .formatted(
                                                each.source().version(),
                                                each.failure().getMessage()));
                break;
            }
        }
        List<String> warnings = loaded.instances().stream()
                .flatMap(instance -> instance.monitor().warnings().stream())
                .distinct()
                .toList();
        if (!warnings.isEmpty()) {
            health.withDetail("warnings", warnings);
        }
        return health.withDetail("state", ProgramState.READY)
                .withDetail("version", loaded.source().version())
                .withDetail("location", loaded.source().location())
                .withDetail(
                        "devices",
                        devices.stream()
                                .map(runtime.monitor().devices()::nameOf)
                                .toList())
                .build();
    }

    private Health pool(Device device) {
        PoolSetStatistics pool = device.allocator().poolStatistics();
        Health.Builder health = Health.up()
                .withDetail("budget", pool.budget())
                .withDetail("live", pool.bytesLive())
                .withDetail("waiters", pool.waiting());
        if (pool.bytesLive() > NEARLY_FULL * pool.budget()) {
            health.withDetail("degraded", true);
        }
        return health.build();
    }

    private List<String> lost(List<Device> devices) {
        return devices.stream()
                .filter(device -> device.failure().isPresent())
                .map(runtime.monitor().devices()::nameOf)
                .toList();
    }

    /** Returns whether all devices work; a program uses all of its devices. */
    private static boolean allWork(List<Device> devices) {
        return devices.stream().allMatch(device -> device.failure().isEmpty());
    }

    private static boolean anyWorks(List<Device> devices) {
        return devices.stream().anyMatch(device -> device.failure().isEmpty());
    }

    private static Group group(Supplier<List<String>> names, Function<String, Health> health) {
        return new Group(names, health);
    }

    /** The current members of a kind. */
    private record Group(Supplier<List<String>> names, Function<String, Health> health)
            implements CompositeHealthContributor {
        @Override
        public @Nullable HealthContributor getContributor(String name) {
            return names.get().contains(name) ? indicator(name) : null;
        }

        @Override
        public Stream<Entry> stream() {
            return names.get().stream().map(name -> new Entry(name, indicator(name)));
        }

        private HealthIndicator indicator(String name) {
            return () -> health.apply(name);
        }
    }
}
