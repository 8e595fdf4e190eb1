package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Programs;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/** {@link Endpoint @Endpoint} that shows the devices, the workers, and the programs with their functions. */
@Endpoint(id = "iree", defaultAccess = Access.READ_ONLY)
public final class IreeEndpoint {

    private final IreeRuntime runtime;
    private final Programs programs;

    /**
     * An endpoint for one runtime.
     *
     * @param runtime whose devices to show
     * @param programs the programs to show
     */
    public IreeEndpoint(IreeRuntime runtime, Programs programs) {
        this.runtime = runtime;
        this.programs = programs;
    }

    /** Everything. */
    @ReadOperation
    public IreeDescriptor iree() {
        return new IreeDescriptor(
                runtime.devices().stream().map(DeviceDescriptor::of).toList(),
                programs.all().stream().map(ModuleDescriptor::of).toList(),
                TaskDescriptor.of(runtime));
    }

    /**
     * One program.
     *
     * @param module its name
     * @return the program, or null when there is none of that name
     */
    @ReadOperation
    public @Nullable ModuleDescriptor module(@Selector String module) {
        return programs.find(module).map(ModuleDescriptor::of).orElse(null);
    }
}
