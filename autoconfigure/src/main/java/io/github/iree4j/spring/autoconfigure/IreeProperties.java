package io.github.iree4j.spring.autoconfigure;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The {@code iree.*} properties.
 *
 * @param enabled Whether to configure the runtime.
 * @param device Device that runs programs.
 * @param modules Compiled programs by name.
 * @param task Workers that run compiled code of the CPU and calls that wait.
 */
@ConfigurationProperties("iree")
public record IreeProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("local") String device,
        @DefaultValue Map<String, Module> modules,
        @DefaultValue Task task) {

    /** The devices that the runtime needs: its own, then those that modules name, each once. */
    Set<String> devices() {
        Set<String> devices = new LinkedHashSet<>();
        devices.add(device);
        modules.values().forEach(module -> devices.add(deviceOf(module)));
        return devices;
    }

    /** The device that a module runs on. */
    String deviceOf(Module module) {
        return module.device() == null ? device : module.device();
    }

    /**
     * One compiled program.
     *
     * @param location Location of the module file (.vmfb). A file, unless it starts with a scheme such as
     *     'classpath:'.
     * @param device Device that runs this program. Same as 'iree.device' when not set.
     * @param parameters Locations of parameter archives (.irpa) by scope. Scope 'default' also serves programs that name
     *     none.
     * @param overlappingCalls Whether one call may run while another waits. For programs whose functions leave nothing
     *     behind that a call must find as it left it.
     */
    public record Module(
            @Nullable String location,
            @Nullable String device,
            @DefaultValue Map<String, List<String>> parameters,
            @DefaultValue("false") boolean overlappingCalls) {}

    /**
     * The workers of the runtime.
     *
     * @param workers Number of workers. Zero for one in each group of the topology.
     * @param topology Where workers are: 'auto' for each core that the process may use, how to choose, such as 'max=8
     *     nodes=0', or groups of processors, such as 'cpus=0,8; cpus=1,9'.
     * @param affinity Whether to bind each worker to the processors of its group.
     * @param scanPolicy Order in which workers look at work for several.
     */
    public record Task(
            @DefaultValue("0") int workers,
            @DefaultValue("auto") String topology,
            @DefaultValue("false") boolean affinity,
            @DefaultValue("round-robin") ScanOrder scanPolicy) {

        /** Order in which workers look at work for several. */
        public enum ScanOrder {
            /** All in turn. */
            ROUND_ROBIN,
            /** The highest priority first. */
            PRIORITY,
            /** In proportion to how many workers it wants. */
            BUDGET
        }
    }
}
