package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.spring.autoconfigure.StopOverdueEvent;
import io.github.iree4j.spring.serving.OpenInferenceGrpcService;
import io.grpc.Server;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.core.ResolvableType;
import org.springframework.grpc.server.lifecycle.GrpcServerShutdownEvent;
import org.springframework.grpc.server.lifecycle.GrpcServerStartedEvent;

/**
 * Keeps the gRPC server, which waits for open calls before other components stop, from waiting for silent streams, and
 * for any call beyond the time for stopping.
 */
final class GrpcStop implements GenericApplicationListener {

    private final OpenInferenceGrpcService service;
    private volatile @Nullable Server stopping;

    GrpcStop(OpenInferenceGrpcService service) {
        this.service = service;
    }

    @Override
    public boolean supportsEventType(ResolvableType type) {
        Class<?> event = type.toClass();
        return event == GrpcServerStartedEvent.class
                || event == GrpcServerShutdownEvent.class
                || event == StopOverdueEvent.class;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        Server server = stopping;
        if (event instanceof GrpcServerStartedEvent) {
            service.allowStreams();
        } else if (event instanceof GrpcServerShutdownEvent shutdown) {
            stopping = shutdown.getServer();
            service.endStreams();
        } else if (event instanceof StopOverdueEvent && server != null) {
            server.shutdownNow();
        }
    }
}
