package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.membership.MembershipOptions;
import io.github.iree4j.spring.cluster.autoconfigure.IreeClusterProperties.IdentityType;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.autoconfigure.ssl.PemSslBundleProperties;
import org.springframework.boot.autoconfigure.ssl.SslProperties;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertiesPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The manifests of {@code docs/kubernetes} agree with each other, with the pages, and with the properties of a node. */
class KubernetesManifestsTests {
    private static final Path FOLDER = Path.of("../docs/kubernetes");
    private static final Path PAGE = Path.of("../docs/kubernetes.md");
    private static final Pattern YAML_BLOCK = Pattern.compile("(?ms)^```yaml\\n(.*?)^```$");
    private static final Set<String> KEYS_OF_A_CERTIFICATE = Set.of("tls.crt", "tls.key", "ca.crt");

    /** Provided to a container by Kubernetes. */
    private static final Map<String, String> FIELDS = Map.of(
            "metadata.name", "vision-2",
            "metadata.namespace", "models",
            "status.podIP", "10.1.2.3");

    private final Map<Path, List<JsonNode>> files = new TreeMap<>();
    private final List<JsonNode> objects = new ArrayList<>();
    private final JsonNode nodes;
    private final JsonNode pod;
    private final JsonNode container;

    KubernetesManifestsTests() throws IOException {
        try (Stream<Path> found = Files.list(FOLDER)) {
            for (Path file : found.toList()) {
                files.put(file, parsed(Files.readString(file)));
            }
        }
        files.values().forEach(objects::addAll);
        nodes = object("StatefulSet", "vision");
        pod = nodes.at("/spec/template/spec");
        container = pod.at("/containers/0");
    }

    private static List<JsonNode> parsed(String yaml) {
        List<JsonNode> found = new ArrayList<>();
        for (Object each : new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(yaml)) {
            found.add(JsonMapper.shared().valueToTree(each));
        }
        return found;
    }

    private JsonNode object(String kind, String name) {
        return objects.stream()
                .filter(each -> kind.equals(text(each, "/kind")) && name.equals(text(each, "/metadata/name")))
                .findFirst()
                .orElseThrow(() -> new AssertionError("there is no %s '%s'".formatted(kind, name)));
    }

    private static String text(JsonNode of, String path) {
        return of.at(path).asString("");
    }

    private static List<JsonNode> list(JsonNode of, String path) {
        List<JsonNode> found = new ArrayList<>(of.at(path).values());
        assertThat(found).as(path).isNotEmpty();
        return found;
    }

    private Map<String, Integer> ports() {
        Map<String, Integer> ports = new TreeMap<>();
        list(container, "/ports")
                .forEach(each -> ports.put(
                        text(each, "/name"), each.path("containerPort").intValue()));
        return ports;
    }

    /** The environment of an application in the container, without this process's. */
    private ConfigurableEnvironment environment() {
        Map<String, Object> variables = new TreeMap<>();
        for (JsonNode each : list(container, "/env")) {
            String field = text(each, "/valueFrom/fieldRef/fieldPath");
            String value = field.isEmpty() ? text(each, "/value") : FIELDS.get(field);
            assertThat(value).as("%s", each).isNotEmpty();
            variables.put(text(each, "/name"), value);
        }
        StandardEnvironment environment = new StandardEnvironment();
        MutablePropertySources sources = environment.getPropertySources();
        sources.remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
        sources.replace(
                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                new SystemEnvironmentPropertySource(
                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables));
        sources.addLast(configuration());
        return environment;
    }

    private PropertiesPropertySource configuration() {
        JsonNode file = object("ConfigMap", "vision").path("data").path("application.yaml");
        YamlPropertiesFactoryBean yaml = new YamlPropertiesFactoryBean();
        yaml.setResources(new ByteArrayResource(file.stringValue().getBytes(StandardCharsets.UTF_8)));
        return new PropertiesPropertySource("application.yaml", yaml.getObject());
    }

    /** Binds properties; each must be known. */
    private <T> T bound(String prefix, Class<T> type) {
        return Binder.get(environment())
                .bind(prefix, Bindable.of(type), new NoUnboundElementsBindHandler(BindHandler.DEFAULT))
                .get();
    }

    private IreeClusterProperties cluster() {
        return bound("iree.cluster", IreeClusterProperties.class);
    }

    private Duration phase() {
        return bound("spring.lifecycle.timeout-per-shutdown-phase", Duration.class);
    }

    @Test
    void selectorsSelectThePods() {
        JsonNode labels = nodes.at("/spec/template/metadata/labels");
        List<JsonNode> selectors = new ArrayList<>();
        for (String kind : List.of("StatefulSet", "PodDisruptionBudget")) {
            selectors.add(object(kind, "vision").at("/spec/selector/matchLabels"));
        }
        for (String name : List.of("vision", "vision-nodes")) {
            selectors.add(object("Service", name).at("/spec/selector"));
        }
        JsonNode policy = object("NetworkPolicy", "vision");
        selectors.add(policy.at("/spec/podSelector/matchLabels"));
        selectors.add(policy.at("/spec/ingress/0/from/0/podSelector/matchLabels"));
        selectors.add(pod.at("/topologySpreadConstraints/0/labelSelector/matchLabels"));
        assertThat(labels.size()).isPositive();
        assertThat(selectors).allSatisfy(each -> assertThat(each).isEqualTo(labels));
        assertThat(object("PodDisruptionBudget", "vision")
                        .at("/spec/maxUnavailable")
                        .intValue())
                .isPositive()
                .isLessThan(nodes.at("/spec/replicas").intValue());
    }

    @Test
    void portsAreOfTheContainerAndOfTheApplication() {
        assertThat(ports())
                .containsExactly(
                        Map.entry("http", bound("server.port", Integer.class)),
                        Map.entry("nodes", cluster().bind().port()));
        Map<String, String> used = new TreeMap<>();
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            used.put(probe, text(container, "/" + probe + "/httpGet/port"));
        }
        used.put("vision", text(object("Service", "vision"), "/spec/ports/0/targetPort"));
        used.put("vision-nodes", text(object("Service", "vision-nodes"), "/spec/ports/0/targetPort"));
        List<JsonNode> permitted = list(object("NetworkPolicy", "vision"), "/spec/ingress");
        used.put("permitted to nodes", text(permitted.get(0), "/ports/0/port"));
        used.put("permitted to clients", text(permitted.get(1), "/ports/0/port"));
        assertThat(used)
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "startupProbe", "http",
                        "livenessProbe", "http",
                        "readinessProbe", "http",
                        "vision", "http",
                        "vision-nodes", "nodes",
                        "permitted to nodes", "nodes",
                        "permitted to clients", "http"));
        assertThat(object("Service", "vision-nodes").at("/spec/ports/0/port").intValue())
                .isEqualTo(ports().get("nodes"));
    }

    @Test
    void namesAreOfObjects() {
        String namespace = text(objects.getFirst(), "/metadata/name"); // the first, for the others to be applied
        assertThat(text(objects.getFirst(), "/kind")).isEqualTo("Namespace");
        assertThat(objects.subList(1, objects.size()))
                .allSatisfy(each -> assertThat(text(each, "/metadata/namespace"))
                        .as("%s", each)
                        .isEqualTo(namespace));
        JsonNode headless = object("Service", text(nodes, "/spec/serviceName"));
        assertThat(text(headless, "/spec/clusterIP")).isEqualTo("None");
        assertThat(headless.at("/spec/publishNotReadyAddresses").booleanValue()).isTrue();
        String account = text(pod, "/serviceAccountName");
        object("ServiceAccount", account);
        JsonNode binding = object("RoleBinding", "vision-identities");
        object("Role", text(binding, "/roleRef/name"));
        JsonNode subject = binding.at("/subjects/0");
        assertThat(text(subject, "/kind")).isEqualTo("ServiceAccount");
        assertThat(text(subject, "/name")).isEqualTo(account);
        assertThat(text(subject, "/namespace")).isEqualTo(namespace);
        JsonNode authority = object("Certificate", "vision-authority");
        object("Issuer", text(authority, "/spec/issuerRef/name"));
        JsonNode issuer = object("Issuer", text(object("Certificate", "vision-nodes"), "/spec/issuerRef/name"));
        assertThat(text(issuer, "/spec/ca/secretName")).isEqualTo(text(authority, "/spec/secretName"));
    }

    @Test
    void filesOfTheConfigurationAreMounted() {
        Map<String, JsonNode> volumes = new TreeMap<>();
        list(pod, "/volumes").forEach(each -> volumes.put(text(each, "/name"), each));
        Map<String, String> mounted = new TreeMap<>();
        for (JsonNode each : list(container, "/volumeMounts")) {
            assertThat(volumes).containsKey(text(each, "/name"));
            assertThat(each.has("subPath"))
                    .as("a part of a volume, never replaced")
                    .isFalse();
            mounted.put(text(each, "/name"), text(each, "/mountPath"));
        }
        assertThat(mounted).containsKeys("config", "tls").containsEntry("tmp", "/tmp");
        object("ConfigMap", text(volumes.get("config"), "/configMap/name"));
        assertThat(bound("spring.config.additional-location", String.class))
                .isEqualTo("file:" + mounted.get("config") + "/");
        assertThat(text(volumes.get("tls"), "/secret/secretName"))
                .isEqualTo(text(object("Certificate", "vision-nodes"), "/spec/secretName"));
        PemSslBundleProperties bundle = bound("spring.ssl", SslProperties.class)
                .getBundle()
                .getPem()
                .get(cluster().ssl().bundle());
        assertThat(bundle.isReloadOnUpdate()).isTrue();
        String folder = "file:" + mounted.get("tls") + "/";
        assertThat(Stream.of(
                        bundle.getKeystore().getCertificate(),
                        bundle.getKeystore().getPrivateKey(),
                        bundle.getTruststore().getCertificate()))
                .containsExactlyInAnyOrderElementsOf(
                        KEYS_OF_A_CERTIFICATE.stream().map(folder::concat).toList());
    }

    @Test
    void nodesFindTheServiceAndLeaseTheirIdentities() {
        IreeClusterProperties properties = cluster();
        assertThat(properties.enabled()).isTrue();
        assertThat(properties.insecure()).isFalse();
        assertThat(properties.identity().type()).isEqualTo(IdentityType.KUBERNETES);
        assertThat(properties.name()).matches("[a-z0-9-]+"); // part of the names of the leases
        assertThat(properties.bind().address()).isEqualTo(FIELDS.get("status.podIP"));
        ClusterSettings settings = new ClusterSettings(properties, () -> null);
        assertThat(settings.membership().discovery())
                .isEqualTo(new MembershipOptions.Discovery.Dns(text(nodes, "/spec/serviceName"), ports().get("nodes")));
    }

    @Test
    void certificatesNameTheAdvertisedHosts() {
        String host = new ClusterSettings(cluster(), () -> null).host();
        assertThat(host)
                .isEqualTo("%s.%s.%s.svc.cluster.local"
                        .formatted(
                                FIELDS.get("metadata.name"),
                                text(nodes, "/spec/serviceName"),
                                text(nodes, "/metadata/namespace")));
        JsonNode certificate = object("Certificate", "vision-nodes");
        assertThat(list(certificate, "/spec/dnsNames"))
                .extracting(JsonNode::stringValue)
                .containsExactly("*" + host.substring(host.indexOf('.')));
        assertThat(list(certificate, "/spec/usages"))
                .extracting(JsonNode::stringValue)
                .contains("server auth", "client auth");
    }

    @Test
    void everyPropertyIsKnown() throws IOException {
        Set<String> known = new TreeSet<>();
        for (URL each : Collections.list(
                getClass().getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
            try (InputStream in = each.openStream()) {
                for (JsonNode property :
                        JsonMapper.shared().readTree(in).path("properties").values()) {
                    boolean map = text(property, "/type").startsWith("java.util.Map");
                    known.add(text(property, "/name") + (map ? "." : ""));
                }
            }
        }
        assertThat(configuration().getPropertyNames())
                .hasSizeGreaterThan(10)
                .allSatisfy(name -> assertThat(known)
                        .as(name)
                        .anyMatch(each -> each.endsWith(".") ? name.startsWith(each) : name.equals(each)));
    }

    @Test
    void podsStopAndRestartWithinTheTimesOfKubernetes() {
        Duration pause = Duration.ofSeconds(
                container.at("/lifecycle/preStop/sleep/seconds").intValue());
        Duration stopping = phase().multipliedBy(2); // of calls, then of work for other nodes
        assertThat(Duration.ofSeconds(pod.path("terminationGracePeriodSeconds").intValue()))
                .isGreaterThanOrEqualTo(pause.plus(stopping).plusSeconds(10));
        assertThat(limit("livenessProbe")).isGreaterThan(stopping.plusMinutes(1));
        assertThat(limit("startupProbe")) // a lease may have to end first
                .isGreaterThan(cluster().identity().leaseDuration().plusMinutes(1));
        assertThat(Duration.ofSeconds(nodes.at("/spec/minReadySeconds").intValue()))
                .isGreaterThan(Duration.ofSeconds(10)); // names are resolved, and refused addresses tried again
    }

    private Duration limit(String probe) {
        return Duration.ofSeconds(container.at("/" + probe + "/periodSeconds").longValue()
                * container.at("/" + probe + "/failureThreshold").longValue());
    }

    @Test
    void probesAskActuator() {
        assertThat(bound("management.endpoint.health.probes.enabled", Boolean.class))
                .isTrue();
        assertThat(bound("management.endpoints.web.exposure.include", String[].class))
                .contains("health");
        assertThat(text(container, "/startupProbe/httpGet/path"))
                .isEqualTo(text(container, "/livenessProbe/httpGet/path"))
                .isEqualTo("/actuator/health/liveness");
        assertThat(text(container, "/readinessProbe/httpGet/path")).isEqualTo("/actuator/health/readiness");
    }

    @Test
    void roleMatchesThePageOnClusters() throws IOException {
        List<JsonNode> roles = YAML_BLOCK
                .matcher(Files.readString(Path.of("../docs/cluster.md")))
                .results()
                .map(each -> parsed(each.group(1)).getFirst())
                .filter(each -> text(each, "/kind").equals("Role"))
                .toList();
        assertThat(roles).hasSize(1);
        JsonNode role = object("Role", text(roles.getFirst(), "/metadata/name"));
        assertThat(role.path("apiVersion")).isEqualTo(roles.getFirst().path("apiVersion"));
        assertThat(role.path("rules")).isEqualTo(roles.getFirst().path("rules"));
    }

    @Test
    void pageLinksEachFileAndNamesEachKind() throws IOException {
        String page = Files.readString(PAGE);
        List<String> linked = Pattern.compile("]\\(kubernetes/([\\w.-]+)\\)")
                .matcher(page)
                .results()
                .map((MatchResult each) -> each.group(1))
                .toList();
        assertThat(linked)
                .containsExactlyElementsOf(files.keySet().stream()
                        .map(each -> each.getFileName().toString())
                        .toList());
        assertThat(objects)
                .extracting(each -> "`" + text(each, "/kind") + "`")
                .allSatisfy(kind -> assertThat(page).contains(kind));
    }
}
