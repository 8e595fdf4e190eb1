package io.github.iree4j;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.modules.hal.HalModule;
import io.github.iree4j.monitor.DeviceMonitor;
import io.github.iree4j.monitor.LeakReport;
import io.github.iree4j.monitor.RuntimeMonitor;
import io.github.iree4j.monitor.RuntimeVersions;
import io.github.iree4j.monitor.Workers;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import java.util.List;
import java.util.function.IntSupplier;

/** What operators see of a runtime. Safe from any thread. */
final class MonitoredRuntime implements RuntimeMonitor {
    private final NamedDevices devices;
    private final Workers workers;
    private final OpenTimelines timelines;
    private final Leaks leaks;
    private final IntSupplier openPrograms;

    MonitoredRuntime(
            NamedDevices devices, Workers workers, OpenTimelines timelines, Leaks leaks, IntSupplier openPrograms) {
        this.devices = devices;
        this.workers = workers;
        this.timelines = timelines;
        this.leaks = leaks;
        this.openPrograms = openPrograms;
    }

    @Override
    public DeviceMonitor devices() {
        return devices;
    }

    @Override
    public Workers workers() {
        return workers;
    }

    @Override
    public List<TimelineSemaphore> timelines() {
        return timelines.list();
    }

    @Override
    public LeakReport leaks() {
        return new LeakReport(
                leaks.openTensors(),
                openPrograms.getAsInt(),
                devices.bytesLive(),
                leaks.forgotten(),
                Leaks.forgottenInProcess(),
                leaks.sites(),
                leaks.open());
    }

    @Override
    public long openTensors() {
        return leaks.openTensors();
    }

    @Override
    public long forgottenTensors() {
        return leaks.forgotten();
    }

    @Override
    public RuntimeVersions versions() {
        String version = MonitoredRuntime.class.getPackage().getImplementationVersion();
        return new RuntimeVersions(
                version == null ? "development" : version, BytecodeModule.versions(), HalModule.VERSION);
    }
}
