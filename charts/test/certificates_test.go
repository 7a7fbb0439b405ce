package chart_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cert-manager makes a certificate of a listener that has a hostname, ends TLS and names a Secret of the Gateway's
// namespace.
func TestEachHostHasAnHTTPSListenerThatACertificateIsMadeFor(t *testing.T) {
	t.Parallel()
	all := mustRender(t,
		set(t,
			"frontDoor.hosts={a.example.com,*.b.example.com},frontDoor.pagesURL=https://a.example.com,frontDoor.adminHost=admin.example.com,"+
				"frontDoor.tls.secretName=hosts,frontDoor.tls.adminSecretName=admins,frontDoor.gateway.enabled=true,frontDoor.gateway.className=any,"+
				"frontDoor.gateway.annotations.cert-manager\\.io/cluster-issuer=letsencrypt"))
	gateway := find(t, all, "Gateway", release)
	if issuer := text(gateway, "metadata", "annotations", "cert-manager.io/cluster-issuer"); issuer != "letsencrypt" {
		t.Errorf("the Gateway's issuer is %q", issuer)
	}
	var got []string
	for _, listener := range list(gateway, "spec", "listeners") {
		if text(listener, "protocol") != "HTTPS" {
			continue
		}
		secret := list(listener, "tls", "certificateRefs")[0]
		if text(listener, "tls", "mode") != "Terminate" || at(secret, "namespace") != nil ||
			text(listener, "allowedRoutes", "namespaces", "from") != "Same" {
			t.Errorf("the listener %v", listener)
		}
		got = append(got, text(listener, "name")+" "+text(listener, "hostname")+" "+text(secret, "name"))
	}
	if diff := cmp.Diff([]string{"https a.example.com hosts", "https-2 *.b.example.com hosts",
		"https-admin admin.example.com admins"}, got); diff != "" {
		t.Errorf("listeners (-want +got):\n%s", diff)
	}
	for route, want := range map[string]string{release: "[https https-2]", release + "-admin": "[https-admin]",
		release + "-to-https": "[http]"} {
		var sections []string
		for _, parent := range list(find(t, all, "HTTPRoute", route), "spec", "parentRefs") {
			sections = append(sections, text(parent, "sectionName"))
		}
		if fmt.Sprint(sections) != want {
			t.Errorf("%s belongs to the listeners %v, want %s", route, sections, want)
		}
	}
	redirected := list(find(t, all, "HTTPRoute", release+"-to-https"), "spec", "hostnames")
	if fmt.Sprint(redirected) != "[a.example.com *.b.example.com admin.example.com]" {
		t.Errorf("redirected are %v", redirected)
	}
	if owners := environment(podSpec(find(t, all, "Deployment",
		release+"-console")))["OWNER_URL"]; owners != "https://admin.example.com" {
		t.Errorf("owners' links begin with %s", owners)
	}
}

// Two Ingresses of one Secret are two owners of one certificate, of which cert-manager refuses the second.
func TestTheAdminAPIsIngressHasACertificateOfItsOwn(t *testing.T) {
	t.Parallel()
	all := mustRender(t,
		set(t,
			"frontDoor.adminHost=admin.example.com,frontDoor.tls.secretName=hosts,frontDoor.tls.adminSecretName=admins,frontDoor.ingress.controller=nginx"))
	for ingress, want := range map[string]string{release: "[book.example.com] hosts",
		release + "-admin": "[admin.example.com] admins"} {
		tls := list(find(t, all, "Ingress", ingress), "spec", "tls")[0]
		if got := fmt.Sprint(list(tls, "hosts")) + " " + text(tls, "secretName"); got != want {
			t.Errorf("%s: %s, want %s", ingress, got, want)
		}
	}
}

func TestAControllerThatRefusesTimeoutsIsGivenNone(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]bool{"true": true, "false": false} {
		all := mustRender(t, set(t,
			"frontDoor.gateway.enabled=true,frontDoor.adminHost=admin.example.com,frontDoor.gateway.timeouts="+setting))
		for _, o := range ofKind(all, "HTTPRoute") {
			for _, rule := range list(o, "spec", "rules") {
				if got := at(rule, "timeouts") != nil; got != want {
					t.Errorf("timeouts: %s: %s has %v", setting, o.name(), rule)
				}
			}
		}
	}
}

// Names are asked for at the cluster's own DNS, at NodeLocal DNSCache and at Cloud DNS. The last has the address of
// Google's metadata server, whose port no pod may reach.
func TestNamesAreFoundWhereverAClusterKeepsThem(t *testing.T) {
	t.Parallel()
	all := mustRender(t, shapeValues(t, "trial"))
	egress := list(find(t, all, "NetworkPolicy", release+"-default-deny"), "spec", "egress")
	if len(egress) != 1 {
		t.Fatalf("every pod reaches %v", egress)
	}
	var places, ports []string
	for _, place := range list(egress[0], "to") {
		places = append(places, text(place, "ipBlock", "cidr")+text(place, "namespaceSelector", "matchLabels",
			"kubernetes.io/metadata.name"))
	}
	for _, port := range list(egress[0], "ports") {
		ports = append(ports, fmt.Sprint(at(port, "port"), "/", at(port, "protocol")))
	}
	slices.Sort(ports)
	if diff := cmp.Diff([]string{"kube-system", "169.254.20.10/32", "169.254.169.254/32"}, places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"53/TCP", "53/UDP", "5353/TCP", "5353/UDP"}, ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	own := "networkPolicy.dnsTo[0].podSelector.matchLabels.k8s-app=kube-dns,networkPolicy.dnsTo[0].namespaceSelector.matchLabels.place=dns"
	egress = list(find(t, mustRender(t, set(t, own)), "NetworkPolicy", release+"-default-deny"), "spec", "egress")
	if to := list(egress[0], "to"); len(to) != 1 || text(to[0], "podSelector", "matchLabels", "k8s-app") != "kube-dns" {
		t.Errorf("kube-dns alone is named, and pods reach %v", to)
	}
}
