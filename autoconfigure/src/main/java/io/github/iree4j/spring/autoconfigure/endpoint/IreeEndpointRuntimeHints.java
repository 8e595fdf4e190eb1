package io.github.iree4j.spring.autoconfigure.endpoint;

import io.github.iree4j.spring.actuate.endpoint.DeviceDescriptor;
import io.github.iree4j.spring.actuate.endpoint.EventsDescriptor;
import io.github.iree4j.spring.actuate.endpoint.FrontierDescriptor;
import io.github.iree4j.spring.actuate.endpoint.IreeDescriptor;
import io.github.iree4j.spring.actuate.endpoint.IreeEndpoint;
import io.github.iree4j.spring.actuate.endpoint.LabDescriptor;
import io.github.iree4j.spring.actuate.endpoint.LiveDescriptor;
import io.github.iree4j.spring.actuate.endpoint.MemoryDescriptor;
import io.github.iree4j.spring.actuate.endpoint.ModuleDescriptor;
import io.github.iree4j.spring.actuate.endpoint.PoolDescriptor;
import io.github.iree4j.spring.actuate.endpoint.ProblemsDescriptor;
import io.github.iree4j.spring.actuate.endpoint.QueueDescriptor;
import io.github.iree4j.spring.actuate.endpoint.RecordingDescriptor;
import io.github.iree4j.spring.actuate.endpoint.TaintDescriptor;
import io.github.iree4j.spring.actuate.endpoint.TimelinesDescriptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Hints for the response types of the endpoint, not visible in method signatures. */
final class IreeEndpointRuntimeHints implements RuntimeHintsRegistrar {

    private final BindingReflectionHintsRegistrar bindings = new BindingReflectionHintsRegistrar();

    /** For Spring. */
    IreeEndpointRuntimeHints() {}

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        bindings.registerReflectionHints(
                hints.reflection(),
                IreeDescriptor.class,
                DeviceDescriptor.All.class,
                QueueDescriptor.All.class,
                FrontierDescriptor.All.class,
                TaintDescriptor.class,
                PoolDescriptor.class,
                PoolDescriptor.All.class,
                ModuleDescriptor.class,
                ModuleDescriptor.All.class,
                TimelinesDescriptor.class,
                TimelinesDescriptor.Calls.class,
                ProblemsDescriptor.class,
                EventsDescriptor.class,
                MemoryDescriptor.All.class,
                LiveDescriptor.class,
                LabDescriptor.class,
                RecordingDescriptor.class,
                IreeEndpoint.Refusal.class);
    }
}
