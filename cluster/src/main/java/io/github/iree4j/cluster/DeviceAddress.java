package io.github.iree4j.cluster;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of another node's device: {@code node/device}. The node is a machine index, or a host advertised by a
 * node, perhaps with a port; without a device, the address means the first device served by the node.
 *
 * @param machine the machine index; -1 for a host
 * @param host the host; empty for a machine index
 * @param port the port of data; 0 for any
 * @param device the id of the device there; empty for the first
 */
record DeviceAddress(int machine, String host, int port, String device) {
    static final String DRIVER = "cluster";

    private static final Pattern FORM = Pattern.compile("\\[?([^/\\]]+?)]?(?::([0-9]{1,5}))?(?:/(.*))?");
    private static final Pattern MACHINE = Pattern.compile("[0-9]{1,3}");

    /**
     * Parses an address.
     *
     * @param id the part after {@code cluster://}
     * @throws IreeException INVALID_ARGUMENT for a malformed address
     */
    static DeviceAddress parse(String id) {
        Matcher parts = FORM.matcher(id);
        if (parts.matches()) {
            String node = parts.group(1);
            String device = parts.group(3) == null ? "" : parts.group(3);
            int port = parts.group(2) == null ? 0 : Integer.parseInt(parts.group(2));
            boolean isMachine = MACHINE.matcher(node).matches();
            if (!isMachine && !node.endsWith(":") && port <= 65535) {
                return new DeviceAddress(-1, node, port, device);
            }
            if (isMachine && port == 0 && Integer.parseInt(node) <= 255) {
                return new DeviceAddress(Integer.parseInt(node), "", 0, device);
            }
        }
        String text = id.startsWith(DRIVER + ":/") ? id : DRIVER + "://" + id; // a single slash makes an id of it all
        throw IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "'%s' is not a device of another node; it is %s://1/local for device 'local' of machine index 1, or has a host that a node advertises, as %s://host/local or %s://host:7600/local"
                        .formatted(text, DRIVER, DRIVER, DRIVER),
                null,
                new WrongAddress(
                        text, "Correct '%s' in 'iree.devices': the message has the possible forms.".formatted(text)));
    }

    boolean isAt(ClusterMember member) {
        return machine >= 0
                ? member.identity().machine() == machine
                : member.host().equalsIgnoreCase(host) && (port == 0 || member.port() == port);
    }

    String node() {
        return machine >= 0 ? "machine index " + machine : port == 0 ? "host " + host : "host " + host + ":" + port;
    }

    @Override
    public String toString() {
        return "%s://%s%s%s"
                .formatted(
                        DRIVER,
                        machine >= 0 ? Integer.toString(machine) : host,
                        port == 0 ? "" : ":" + port,
                        device.isEmpty() ? "" : "/" + device);
    }
}
