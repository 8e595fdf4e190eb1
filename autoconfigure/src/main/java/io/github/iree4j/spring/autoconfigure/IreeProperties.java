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
 */
@ConfigurationProperties("iree")
public record IreeProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("local") String device,
        @DefaultValue Map<String, Module> modules) {

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
     */
    public record Module(
            @Nullable String location,
            @Nullable String device,
            @DefaultValue Map<String, List<String>> parameters) {}
}
