package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A program.
 *
 * @param name the prefix of the names of the program's functions
 * @param versions the program's versions, the latest first
 */
public record ModuleDescriptor(String name, List<Version> versions) implements OperationResponseBody {

    /**
     * A version.
     *
     * @param version the version
     * @param state the lifecycle state
     * @param step the current step; empty when idle
     * @param progress completed fraction of the load, 0 to 1
     * @param since time of entering this state
     * @param loadTime duration of the last load
     * @param failure the cause of the last load's failure; null without a failure
     * @param changes differences between the functions of the version and of the program previously loaded under the
     *     same name; empty without differences
     * @param location the location of the module
     * @param devices names of the version's devices
     * @param contexts number of concurrent calls; 0 when not loaded
     * @param activeCalls number of calls in flight, including calls begun before the version was unloaded or replaced
     * @param parameters locations of the parameter archives by scope
     * @param functions the functions; empty when not loaded
     */
    public record Version(
            String version,
            ProgramState state,
            String step,
            double progress,
            Instant since,
            Duration loadTime,
            @Nullable String failure,
            List<String> changes,
            String location,
            List<String> devices,
            int contexts,
            int activeCalls,
            Map<String, List<String>> parameters,
            List<FunctionDescriptor> functions) {}

    /**
     * All programs.
     *
     * @param modules sorted by name
     */
    public record All(List<ModuleDescriptor> modules) implements OperationResponseBody {}

    static ModuleDescriptor of(String name, IreeRuntime runtime, Programs programs) {
        return new ModuleDescriptor(
                name,
                programs.versions(name).stream()
                        .map(status -> version(status, runtime, programs))
                        .toList());
    }

    private static Version version(ProgramStatus status, IreeRuntime runtime, Programs programs) {
        LoadedProgram loaded =
                programs.find(status.source().name(), status.source().version()).orElse(null);
        Throwable failure = status.failure();
        return new Version(
                status.source().version(),
                status.state(),
                status.step(),
                status.progress(),
                status.since(),
                status.loadTime(),
                failure == null ? null : failure.getMessage(),
                status.changes(),
                status.source().location(),
                loaded == null ? status.source().devices() : devices(loaded, runtime),
                loaded == null ? 0 : loaded.instances().size(),
                programs.activeCalls(status.source().name(), status.source().version()),
                status.source().parameters(),
                loaded == null
                        ? List.of()
                        : loaded.program().functions().stream()
                                .map(function -> FunctionDescriptor.of(loaded, function))
                                .toList());
    }

    private static List<String> devices(LoadedProgram loaded, IreeRuntime runtime) {
        return loaded.instances().stream()
                .flatMap(instance -> instance.devices().stream())
                .distinct()
                .map((Device device) -> runtime.monitor().devices().nameOf(device))
                .toList();
    }
}
