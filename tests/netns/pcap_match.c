// SPDX-License-Identifier: GPL-2.0
/*
 * Match the packets of two captures by content: those that came into a router
 * and those that left it. The witness that the sojourn is compared with.
 *
 *   pcap_match IN.pcap OUT.pcap
 *
 * Both with nanosecond times, Ethernet, IPv4, offloads off (one packet in is one
 * packet out). Two packets are the same where addresses, protocol, IP
 * identification and length, and the first 20 bytes behind the IP header agree
 * (ports and TCP sequence, or ICMP id and sequence); the checksums are left out,
 * as the sender may leave them to be filled in on the way. Equal ones pair up in
 * the order that they came.
 *
 * Prints one JSON document: counts, percentiles (nearest rank) and mean of the
 * time in the router in ns, and each ICMP echo by itself.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/icmp.h>
#include <linux/ip.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT	20

struct packet {
	struct key {
		__u32 source;
		__u32 destination;
		__u16 id;
		__u16 length;
		__u8 protocol;
		__u8 content[CONTENT];
	} key;
	long long time_ns;
	unsigned int order;
};

struct capture {
	struct packet *packets;
	size_t count;
	size_t room;
	size_t skipped;		/* not IPv4, or cut too short */
};

static bool parse(const struct pcap_pkthdr *header, const u_char *data, struct packet *packet)
{
	struct ethhdr ethernet;
	size_t at, have;
	struct iphdr ip;

	if (header->caplen < sizeof(ethernet) + sizeof(ip))
		return false;
	memcpy(&ethernet, data, sizeof(ethernet));
	memcpy(&ip, data + sizeof(ethernet), sizeof(ip));
	if (ethernet.h_proto != htons(ETH_P_IP) || ip.version != 4)
		return false;
	at = sizeof(ethernet) + ip.ihl * 4;
	if (header->caplen < at)
		return false;
	memset(packet, 0, sizeof(*packet));
	packet->key.source = ip.saddr;
	packet->key.destination = ip.daddr;
	packet->key.id = ip.id;
	packet->key.length = ip.tot_len;
	packet->key.protocol = ip.protocol;
	have = header->caplen - at;
	memcpy(packet->key.content, data + at, have < CONTENT ? have : CONTENT);
	if (ip.protocol == IPPROTO_TCP)
		memset(packet->key.content + 16, 0, 2);
	if (ip.protocol == IPPROTO_UDP)
		memset(packet->key.content + 6, 0, 2);
	packet->time_ns = header->ts.tv_sec * 1000000000LL + header->ts.tv_usec;
	return true;
}

static int read_capture(const char *path, struct capture *capture)
{
	struct pcap_pkthdr *header;
	char text[PCAP_ERRBUF_SIZE];
	const u_char *data;
	pcap_t *file;
	int result;

	file = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!file) {
		fprintf(stderr, "pcap_match: %s\n", text);
		return -1;
	}
	while ((result = pcap_next_ex(file, &header, &data)) == 1) {
		if (capture->count == capture->room) {
			struct packet *grown;

			capture->room = capture->room ? 2 * capture->room : 4096;
			grown = realloc(capture->packets, capture->room * sizeof(*grown));
			if (!grown)
				break;
			capture->packets = grown;
		}
		if (parse(header, data, &capture->packets[capture->count])) {
			capture->packets[capture->count].order = capture->count;
			capture->count++;
		} else {
			capture->skipped++;
		}
	}
	pcap_close(file);
	return result == PCAP_ERROR_BREAK ? 0 : -1;
}

static int by_key(const void *a, const void *b)
{
	const struct packet *left = a, *right = b;
	int order = memcmp(&left->key, &right->key, sizeof(left->key));

	if (order)
		return order;
	return left->order < right->order ? -1 : left->order > right->order;
}

static int by_value(const void *a, const void *b)
{
	long long left = *(const long long *)a, right = *(const long long *)b;

	return left < right ? -1 : left > right;
}

static long long rank(const long long *sorted, size_t count, unsigned int per_mille)
{
	size_t at = (count * per_mille + 999) / 1000;

	return count ? sorted[at ? at - 1 : 0] : 0;
}

static void print_echo(const struct packet *in, const struct packet *out, bool first)
{
	struct icmphdr icmp;

	memcpy(&icmp, in->key.content, sizeof(icmp));
	printf("%s{\"id\":%u,\"sequence\":%u,\"reply\":%s,\"ns\":%lld}", first ? "" : ",\n",
	       ntohs(icmp.un.echo.id), ntohs(icmp.un.echo.sequence),
	       icmp.type == ICMP_ECHOREPLY ? "true" : "false", out->time_ns - in->time_ns);
}

static double mean(const long long *times, size_t count)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += times[i];
	return count ? sum / count : 0;
}

/* Walk both sorted captures; times gets the differences. Returns how many matched. */
static size_t match(const struct capture *in, const struct capture *out, long long *times)
{
	size_t i = 0, o = 0, count = 0, echoes = 0;

	printf("{\"echoes\":[");
	while (i < in->count && o < out->count) {
		const struct packet *from = &in->packets[i], *to = &out->packets[o];
		int order = memcmp(&from->key, &to->key, sizeof(from->key));

		if (order < 0) {
			i++;
			continue;
		}
		if (order > 0) {
			o++;
			continue;
		}
		times[count++] = to->time_ns - from->time_ns;
		if (from->key.protocol == IPPROTO_ICMP)
			print_echo(from, to, !echoes++);
		i++;
		o++;
	}
	printf("],\n");
	return count;
}

int main(int argc, char *argv[])
{
	struct capture in = { 0 }, out = { 0 };
	long long *times = NULL;
	int status = 1;
	size_t count;

	if (argc != 3) {
		fprintf(stderr, "pcap_match IN.pcap OUT.pcap\n");
		return 2;
	}
	if (read_capture(argv[1], &in) || read_capture(argv[2], &out))
		goto out;
	times = calloc(in.count + 1, sizeof(*times));
	if (!times)
		goto out;
	qsort(in.packets, in.count, sizeof(*in.packets), by_key);
	qsort(out.packets, out.count, sizeof(*out.packets), by_key);
	count = match(&in, &out, times);
	qsort(times, count, sizeof(*times), by_value);
	printf("\"in\":%zu,\"out\":%zu,\"matched\":%zu,\"skipped\":%zu,\n", in.count, out.count,
	       count, in.skipped + out.skipped);
	printf("\"router_ns\":{\"min\":%lld,\"p50\":%lld,\"p95\":%lld,\"p99\":%lld,\"max\":%lld,\"mean\":%.1f}}\n",
	       rank(times, count, 0), rank(times, count, 500), rank(times, count, 950),
	       rank(times, count, 990), rank(times, count, 1000), mean(times, count));
	status = 0;
out:
	free(times);
	free(in.packets);
	free(out.packets);
	return status;
}
