package io.github.iree4j.spring;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Where a program comes from.
 *
 * @param name the name under which its functions are called; not empty
 * @param location the module file (.vmfb): a path, or a URL or {@code classpath:} location
 * @param device the device that runs it; null for the runtime's own
 * @param parameters locations of parameter archives (.irpa) by scope; the archives of scope {@code default} also serve
 *     programs that name no scope
 * @param overlappingCalls whether one call may run while another waits; for programs whose functions leave nothing behind that a call must
 *     find as it left it
 */
public record ProgramSource(
        String name,
        String location,
        @Nullable String device,
        Map<String, List<String>> parameters,
        boolean overlappingCalls) {

    /** The scope whose archives also serve programs that name no scope. */
    public static final String DEFAULT_SCOPE = "default";

    /**
     * Copies the parameters.
     *
     * @throws IllegalArgumentException when the name or the location is empty
     */
    public ProgramSource {
        if (name.isBlank()) {
            throw new IllegalArgumentException("'name' must not be blank");
        }
        if (location.isBlank()) {
            throw new IllegalArgumentException("'location' of program '%s' must not be blank".formatted(name));
        }
        Map<String, List<String>> copy = new TreeMap<>();
        parameters.forEach((scope, locations) -> copy.put(scope, List.copyOf(locations)));
        parameters = Collections.unmodifiableMap(copy);
    }

    /**
     * A program whose calls do not overlap.
     *
     * @param name the name under which its functions are called
     * @param location the module file
     * @param device the device that runs it, or null
     * @param parameters locations of parameter archives by scope
     */
    public ProgramSource(String name, String location, @Nullable String device, Map<String, List<String>> parameters) {
        this(name, location, device, parameters, false);
    }

    /**
     * A program without parameters on the runtime's own device.
     *
     * @param name the name under which its functions are called
     * @param location the module file
     * @return the source
     */
    public static ProgramSource of(String name, String location) {
        return new ProgramSource(name, location, null, Map.of());
    }
}
