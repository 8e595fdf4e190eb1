package io.github.iree4j.spring.serving;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import io.github.iree4j.spring.http.RequestCounts.Work;
import io.github.iree4j.spring.serving.GrpcMessages.ModelName;
import io.github.iree4j.spring.serving.GrpcMessages.RepositoryRequest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerStreamTracer;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * The Open Inference Protocol, version 2, over gRPC: service {@code inference.GRPCInferenceService}, with Triton's
 * {@code ModelStreamInfer}, {@code ModelConfig} and repository. Limits are the limits of HTTP requests.
 *
 * <p>The {@linkplain #tracers() tracers} belong into the server of the service: bytes are then charged on arrival,
 * rather than when a message is complete, and calls that send or read nothing are ended.
 */
@NotForApplications
public final class OpenInferenceGrpcService implements BindableService, AutoCloseable {

    /** The name of the service. */
    public static final String NAME = "inference.GRPCInferenceService";

    static final String STREAM = "ModelStreamInfer";

    /** The methods, each with a request and a response named after the method, except for the stream. */
    static final List<String> METHODS = List.of(
            "ServerLive",
            "ServerReady",
            "ModelReady",
            "ServerMetadata",
            "ModelMetadata",
            "ModelConfig",
            "ModelInfer",
            STREAM,
            "RepositoryIndex",
            "RepositoryModelLoad",
            "RepositoryModelUnload");

    private final RepositoryModels repository;
    private final ServedModels models;
    private final OpenInference protocol;
    private final GrpcInference inference;
    private final ServingOptions options;
    private final BooleanSupplier authenticated;
    private final BodyLimits limits;
    private final int maxStreams;
    private final Semaphore streams;
    private final GrpcOpenCalls calls;
    private final Set<GrpcCall> openStreams = ConcurrentHashMap.newKeySet();
    private final ScheduledThreadPoolExecutor timer;
    private volatile boolean ending;

    /**
     * Creates the service.
     *
     * @param programs the programs to list, load and unload, where the options allow
     * @param models the served models
     * @param invocations makes the calls
     * @param options the limits of serving
     * @param authenticated whether the clients of the server are authenticated; evaluated at each request of the
     *     repository, which is otherwise refused
     * @param limits the limits of bodies
     * @param maxCalls maximum number of open calls of all clients, of any service; a connection beginning a further
     *     call is closed. Streams, which may be silent, are limited to a quarter of this number; further streams are
     *     refused. Unread answers whose requests keep no place are limited to a half
     */
    public OpenInferenceGrpcService(
            Programs programs,
            ServedModels models,
            InvocationService invocations,
            ServingOptions options,
            BooleanSupplier authenticated,
            BodyLimits limits,
            int maxCalls) {
        this.repository = new RepositoryModels(programs);
        this.models = models;
        this.protocol =
                new OpenInference(models, invocations, options, limits, maxCalls / 2, Work.GRPC, Work.GRPC_WAITING);
        this.inference = new GrpcInference(models, protocol, options);
        this.options = options;
        this.authenticated = authenticated;
        this.limits = limits;
        this.maxStreams = maxCalls / 4;
        this.streams = new Semaphore(maxStreams);
        limits.counts().measure(Work.STREAMS, () -> maxStreams - streams.availablePermits());
        this.calls = new GrpcOpenCalls(maxCalls, limits.counts());
        this.timer = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("iree4j-serving-timer").factory());
        timer.setRemoveOnCancelPolicy(true);
        timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy()); // calls may outlive the service
    }

    /** Allows silent streams again, after {@link #endStreams}. */
    public void allowStreams() {
        ending = false;
    }

    /**
     * Ends streams, each after the answer in progress, and all streams beginning later: a stopping server would wait
     * for silent streams.
     */
    public void endStreams() {
        ending = true;
        openStreams.forEach(GrpcCall::finish);
    }

    /** Ends the timers of calls. */
    @Override
    public void close() {
        timer.shutdownNow();
    }

    /**
     * Returns tracers following calls and arriving bytes.
     *
     * @return for {@link io.grpc.ServerBuilder#addStreamTracerFactory}, in this order; calls of other services are only
     *     counted
     */
    public List<ServerStreamTracer.Factory> tracers() {
        GrpcTransportLog.install();
        return List.of(calls, new ServerStreamTracer.Factory() {
            @Override
            public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
                if (!method.startsWith(NAME + "/")) {
                    return new ServerStreamTracer() {};
                }
                GrpcArrival arrival = new GrpcArrival(limits, options.maxRequestSize(), timer);
                if (!method.endsWith("/" + STREAM)) {
                    arrival.expect(); // a stream may be silent between messages
                }
                return arrival;
            }
        });
    }

    /**
     * Returns the number of open calls, of any service.
     *
     * @return the number at some moment
     */
    public int openCalls() {
        return calls.open();
    }

    @Override
    public ServerServiceDefinition bindService() {
        List<ServerMethodDefinition<InputStream, GrpcMessage>> methods = METHODS.stream()
                .map(name -> ServerMethodDefinition.create(descriptor(name), handler(name)))
                .toList();
        ServiceDescriptor.Builder service = ServiceDescriptor.newBuilder(NAME);
        if (ClassUtils.isPresent(
                "io.grpc.protobuf.ProtoFileDescriptorSupplier", getClass().getClassLoader())) {
            service.setSchemaDescriptor(new InferenceSchema());
        }
        methods.forEach(method -> service.addMethod(method.getMethodDescriptor()));
        ServerServiceDefinition.Builder definition = ServerServiceDefinition.builder(service.build());
        methods.forEach(definition::addMethod);
        return definition.build();
    }

    private static MethodDescriptor<InputStream, GrpcMessage> descriptor(String name) {
        return MethodDescriptor.newBuilder(GrpcMessage.REQUEST, GrpcMessage.RESPONSE)
                .setType(name.equals(STREAM) ? MethodType.BIDI_STREAMING : MethodType.UNARY)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, name))
                .build();
    }

    private ServerCallHandler<InputStream, GrpcMessage> handler(String name) {
        return switch (name) {
            case "ServerLive" -> question(_ -> GrpcMessages.yes(true));
            case "ServerReady" -> question(_ -> GrpcMessages.yes(models.isReady()));
            case "ModelReady" -> question(asked -> GrpcMessages.yes(isReady(asked)));
            case "ServerMetadata" -> question(_ -> GrpcMessages.server(protocol.server()));
            case "ModelMetadata" ->
                question(asked -> GrpcMessages.model(protocol.model(asked.name(), asked.version())));
            case "ModelConfig" ->
                question(asked -> GrpcMessages.configuration(protocol.configuration(asked.name(), asked.version())));
            case "RepositoryIndex" ->
                answer(in -> GrpcMessages.index(repository().index(GrpcMessages.onlyReady(in))));
            case "RepositoryModelLoad" ->
                answer(in -> {
                    RepositoryRequest asked = RepositoryRequest.read(in);
                    asked.parameters().forEach(RepositoryModels::checkParameter);
                    repository().load(asked.name());
                    return GrpcMessages.empty();
                });
            case "RepositoryModelUnload" ->
                answer(in -> {
                    repository().unload(RepositoryRequest.read(in).name());
                    return GrpcMessages.empty();
                });
            case "ModelInfer" -> handler(inference::begin, null);
            case STREAM ->
                handler(
                        (message, arrived) -> inference.begin(message, arrived).map(GrpcMessages::inStream),
                        GrpcMessages::failure);
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Returns whether a model is ready; false for unknown models, since clients of Triton query readiness without knowing whether a model exists. */
    private boolean isReady(ModelName asked) {
        try {
            return models.isReady(asked.name(), asked.version());
        } catch (IreeException e) {
            if (e.code() == StatusCode.NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    /** Returns the repository. Loading models is opt-in as over HTTP, whose security does not cover gRPC. */
    private RepositoryModels repository() {
        if (!options.repository()) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED, "the repository is not served; set 'iree.serving.repository=true'");
        }
        if (!authenticated.getAsBoolean()) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "the repository is not served over gRPC without authentication; declare an 'AuthenticationProcessInterceptor' with '@GlobalServerInterceptor', or set 'iree.serving.grpc.authentication=elsewhere' where something else authenticates clients");
        }
        return repository;
    }

    /** Handles a request with at most the name and version of a model. */
    private ServerCallHandler<InputStream, GrpcMessage> question(Function<ModelName, GrpcMessage> answer) {
        return answer(in -> answer.apply(ModelName.read(in)));
    }

    /** Answers a message. */
    @FunctionalInterface
    private interface Answering {
        GrpcMessage answer(InputStream message) throws IOException;
    }

    private ServerCallHandler<InputStream, GrpcMessage> answer(Answering answering) {
        return handler(
                (message, arrived) -> {
                    GrpcMessage answered = answering.answer(message);
                    arrived.body().close();
                    return GrpcWork.done(answered);
                },
                null);
    }

    private ServerCallHandler<InputStream, GrpcMessage> handler(
            GrpcCall.Method method, @Nullable Function<Status, GrpcMessage> failures) {
        return (call, headers) -> {
            GrpcArrival arrival = GrpcArrival.KEY.get();
            boolean stream = failures != null;
            boolean admitted = !stream || streams.tryAcquire();
            GrpcCall listener = new GrpcCall(
                    call,
                    arrival == null ? new GrpcArrival(limits, options.maxRequestSize(), null) : arrival,
                    method,
                    limits::patience,
                    failures,
                    stream && admitted ? this::forget : _ -> {});
            if (admitted) {
                if (stream) {
                    openStreams.add(listener);
                }
                listener.begin();
                if (stream && ending) {
                    listener.finish();
                }
            } else {
                limits.counts().refuse(Reason.STREAMS);
                listener.end(Status.RESOURCE_EXHAUSTED.withDescription(
                        "%d streams are already open; close some, or raise 'iree.serving.grpc.max-calls', of which they may be a quarter"
                                .formatted(maxStreams)));
            }
            return listener;
        };
    }

    private void forget(GrpcCall stream) {
        openStreams.remove(stream);
        streams.release();
    }
}
