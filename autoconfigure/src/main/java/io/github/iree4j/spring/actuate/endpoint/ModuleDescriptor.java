package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.Programs.LoadedProgram;
import java.util.List;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A program.
 *
 * @param name the name under which its functions are called
 * @param location where it was loaded from
 * @param devices ids of the devices that it runs on
 * @param parameters locations of its parameter archives by scope
 * @param functions what can be called
 */
public record ModuleDescriptor(
        String name,
        String location,
        List<String> devices,
        Map<String, List<String>> parameters,
        List<FunctionDescriptor> functions)
        implements OperationResponseBody {

    static ModuleDescriptor of(LoadedProgram loaded) {
        return new ModuleDescriptor(
                loaded.source().name(),
                loaded.source().location(),
                loaded.program().devices().stream().map(Device::id).toList(),
                loaded.source().parameters(),
                loaded.program().functions().stream()
                        .map(FunctionDescriptor::of)
                        .toList());
    }
}
